// What is known of code objects: whether something can stop in their frames.
#pragma once

#include <Python.h>

namespace pyharness::breakpoints {

// Whether `tuple` has `object` or `or_this`.
bool is_in(PyObject* tuple, PyObject* object, PyObject* or_this);

// Asks the debugger whether something can stop in frames of `code`, and keeps
// the answer at the code. True where that is unknown. Runs Python.
bool learn(PyObject* code, PyObject* file);

// Tells the debugger of the thread that runs. Runs Python.
void adopt();

// Whether nothing can stop at the line at which `frame` stands.
bool passes(PyObject* frame, PyObject* file);

// Tells the debugger's trace function, which is called with `self`, that the
// innermost frame has begun. Runs Python.
void tell_begun(PyObject* self);

// A generator or a coroutine has returned, has raised or waits. It may do each
// at any line, and debugpy does not tell an exception from waiting.
void tell_left(PyObject* frame, int flags, bool raises);

} // namespace pyharness::breakpoints
