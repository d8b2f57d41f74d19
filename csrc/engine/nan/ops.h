// The ops of a search for a bad value.
#pragma once

#include <csrc/torch_headers.h>

namespace pyharness::engine {

// To be given to at::addGlobalCallback.
at::RecordFunctionCallback op_checks();

} // namespace pyharness::engine
