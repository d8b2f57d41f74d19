// The system does not write into read-only pages either: a call that reads into
// memory fails there, and no signal comes.
#pragma once

namespace pyharness::engine {

// Has the calls of loaded libraries that read into a watched block write into
// it first, and then read again.
void lead_reading_calls();

} // namespace pyharness::engine
