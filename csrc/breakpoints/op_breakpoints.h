// Breakpoints on ops: a RecordFunction callback that knows by one look whether
// an op is meant.
#pragma once

#include <csrc/breakpoints/active.h>

namespace pyharness::breakpoints {

// Registers the callback, or takes it away, as the set needs it.
void watch_ops(const Active& set);

} // namespace pyharness::breakpoints
