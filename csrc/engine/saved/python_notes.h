// The lines of Python that are noted of a write: those of the thread that
// writes, or of another one that may run meanwhile.
#pragma once

#include <csrc/engine/saved/blocks.h>

namespace pyharness::engine {

// In a handler of a signal: allocates nothing, takes no lock.
void note_python(Write& write, const Saver& saver);

// The line of a frame, with the GIL; 0 where its code is gone.
int line_of(const Write::PythonLine& frame);

} // namespace pyharness::engine
