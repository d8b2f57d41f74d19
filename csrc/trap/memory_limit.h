// A limit on what Python code on one thread may allocate: for expressions that
// a debugger evaluates, which must not take the memory of the program's
// machine.
#pragma once

#include <cstddef>

namespace pyharness::breakpoints {

// From now on Python's allocations on the calling thread fail once the process
// has grown by `bytes`, until `end_memory_limit` there. Both need the GIL.
void begin_memory_limit(std::size_t bytes);
void end_memory_limit();

} // namespace pyharness::breakpoints
