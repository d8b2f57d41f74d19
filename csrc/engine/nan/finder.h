// Finds the first op or autograd node that has a bad value.
#pragma once

#include <csrc/engine/nan/finding.h>

namespace pyharness::engine {

// Is told of what was found, on the thread that found it; true where that was
// what was looked for, so that the search is over. What it throws ends the
// backward pass; it may throw where a node ends.
using TakeFinding = bool (*)(Finding& finding, bool may_throw);

// From here on ops and nodes are checked; one search at a time.
void start_search(const WantedValues& which, TakeFinding told);

// Also where it is over.
void stop_search();

// It is not over: what was found is not what was looked for.
void resume_search();

// Ops and nodes that were checked since it began, by the calling thread.
std::uint64_t checked_by_thread();

} // namespace pyharness::engine
