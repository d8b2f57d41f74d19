// What CPython 3.12 takes out of a function for good as soon as anybody listens
// to where it starts: the instructions that stand for two, as LOAD_FAST and
// LOAD_FAST do. Without them a loop of a few instructions takes 1.2 times as
// long. Whatever instruments the function anew takes them out again, so that
// they may stand in code that is listened to, too. From 3.13 on the compiler
// itself makes them, and they stay.
#pragma once

#include <Python.h>

namespace pyharness::breakpoints {

// Puts them back into `code`, also while it runs, except where a line that is
// listened to begins. Needs the GIL, and no exception that is set. Does nothing
// on another Python.
void combine_instructions(PyObject* code);

} // namespace pyharness::breakpoints
