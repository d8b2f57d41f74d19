// Torch sets a thread's RecordFunction state before and after each node that it
// runs, mostly to what it is, and finds out anew each time whom to call. While
// this is on that is left out: it pays for recording the nodes.
#pragma once

namespace pyharness::engine {

void keep_unchanged_state();
void set_every_state();

} // namespace pyharness::engine
