// How C asks the debugger, on the program's own threads.
#pragma once

#include <Python.h>

namespace pyharness::breakpoints {

// A new reference: what `ask(file)` has said, by `known` (file name -> that),
// or says; null where nobody is asked any more, and with an exception: what the
// program's handler of a signal raised meanwhile, or the interpreter's end.
// Runs Python.
PyObject* said_of(PyObject* file, PyObject* ask, PyObject* known);

// The program shall have the exception that is set (Ctrl-C) where it runs its
// own code again. Others are ours: the interpreter may be about to end.
void put_off();

} // namespace pyharness::breakpoints
