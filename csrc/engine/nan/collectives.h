// Collectives of torch.distributed: they work behind their call, so that what
// they give is looked at when their work is done.
#pragma once

#include <csrc/engine/nan/levels.h>

namespace pyharness::engine {

// Has what a collective gives looked at when it is done. False where there is
// no telling when that is.
bool check_when_done(
    const ThreadLevels& levels,
    const Level& level,
    const at::RecordFunction& fn);

// Looks at what collectives of this thread have given since, which tell nobody
// that they are done: `recv` and `reduce_scatter` of Gloo.
void check_those_done();

} // namespace pyharness::engine
