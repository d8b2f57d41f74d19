// Breakpoints on the autograd nodes that the engine runs.
#pragma once

#include <csrc/breakpoints/active.h>

namespace pyharness::breakpoints {

// Observes the engine, or stops doing so, as the set needs it.
void watch_nodes(const Active& set);

} // namespace pyharness::breakpoints
