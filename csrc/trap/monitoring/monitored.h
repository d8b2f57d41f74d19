// Keeps what sys.monitoring tells a debugger to what the debugger needs, from
// Python 3.12 on. There a debugger written in Python is called for each line of
// a function that has a breakpoint in one of them, and for each exception that
// leaves a function, at 1 and 10 microseconds.
//
// These stand in front of its callbacks and call them, as no function of
// Python's could: they look for the frame of whoever called them.
#pragma once

#include <Python.h>

namespace pyharness::breakpoints {

// What a debugger says of itself. All are borrowed.
struct Monitored {
  // `lines_in(filename)` returns the lines to stop at, as a set.
  PyObject* lines_in;
  // `is_stepping()`: a thread steps, or stands. Asked for each exception.
  PyObject* is_stepping;
  // `may_stop()`: one does, or is to stand at its next line.
  PyObject* may_stop;
  // `begins_threads(filename)`: its functions call what a thread runs; an
  // exception that comes to one has left the thread's own code.
  PyObject* begins_threads;
  // `watches_lines(code)`: LINE is told of it.
  PyObject* watches_lines;
  PyObject* disable; // sys.monitoring.DISABLE
};

// The debugger's own, or None.
struct Callbacks {
  PyObject* start;
  PyObject* line;
  PyObject* unwind;
};

// All of these need the GIL. Returns false with an exception set.
bool begin_monitored(const Monitored& monitored);

// What was said of files is out of date.
bool change_monitored(const Callbacks& behind);

void end_monitored();

// Callbacks of sys.monitoring. For PY_START: where the debugger has seen to a
// function's lines, it is disabled.
PyObject* start_event(PyObject* module, PyObject* args);
// For PY_RESUME, of which the debugger wants to hear nothing: it is disabled.
PyObject* resume_event(PyObject* module, PyObject* args);
// For LINE: a location without a breakpoint is disabled, while nobody may stop.
PyObject* line_event(PyObject* module, PyObject* args);
// For PY_UNWIND: of the outermost functions only.
PyObject* unwind_event(PyObject* module, PyObject* args);
// `while_stepping(callback, args)`: calls it, unless nobody steps.
PyObject* stepped_event(PyObject* callback, PyObject* args);

} // namespace pyharness::breakpoints
