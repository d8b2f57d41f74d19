// Raises an error in the Python code that called what runs now: torch's
// callbacks cannot throw.
#pragma once

#include <Python.h>

namespace pyharness::engine {

// `error` is an exception class that is called without arguments. It is raised
// on this thread when the native code has returned: at the same line, or, where
// frames cannot be read (python_frames.h), where the interpreter next looks for
// such errors, which is the end of a call or the turn of a loop. Needs the GIL.
void raise_in_python(PyObject* error);

// Takes back what has not been raised yet. Needs the GIL.
void forget_error_in_python();

} // namespace pyharness::engine
