// Keeps a debugger's trace function out of frames in which nothing can stop,
// on Pythons up to 3.11. There it is a thread's, and while a thread has one,
// the interpreter takes its slow path for every instruction, in every frame.
//
// The interpreter's own switch for that path belongs to a run of its loop
// (`use_tracing` of a `_PyCFrame`), and each run inherits it from its caller's.
// We stand where frames begin (PEP 523) and set the switch for each of them;
// the trace function stays where the debugger put it. Without anything to stop
// at we do not even stand there; nor does 3.11 until a frame begins in which
// something can stop (resume_opcode.h).
#pragma once

#include <Python.h>

namespace pyharness::breakpoints {

// What is asked of the frames now.
struct Wanted {
  // Each frame is traced: a step is under way, or a stop at any exception.
  bool everywhere = false;
  // There are lines to stop at.
  bool lines = false;
  // Stand where frames begin, also while none has such a line: torch.compile
  // may be about to take that place.
  bool always = false;
  // What a thread begins with is traced, for exceptions that leave the thread:
  // its outermost frame, and the frames of `entries`.
  bool outermost = false;

  bool operator==(const Wanted&) const = default;
};

// All of these need the GIL.

// From now on the trace functions that are in `tracers`, or of a type in it,
// are the debugger's. `lines_in(filename)` returns the lines to stop at, as a
// set; `entries` has the code with which Python's own threads begin. While each
// frame is traced, `left(frame, raises)` is called where a generator or a
// coroutine returns, raises or waits, after the debugger's trace function.
// `adopt()` is called on a thread without a trace function that is about to
// run code with such a line: it may be one that C++ made, of which the debugger
// knows nothing, and gets the debugger's trace function then.
// Returns 0 where this Python has no such switch (from 3.12 on it has
// sys.monitoring) or is not as expected, -1 with an exception set, and 2 where
// the interpreter asks about code (resume_opcode.h): what is untraced there has
// no price.
int begin_traced_frames(
    PyObject* lines_in,
    PyObject* tracers,
    PyObject* entries,
    PyObject* left,
    PyObject* adopt);

// `forget` what `lines_in` has said so far. `running` is a tuple of the code
// objects that run on any thread, and of generators and coroutines that wait.
// Returns false with an exception set.
bool change_traced_frames(Wanted wanted, bool forget, PyObject* running);

// Every frame of a traced thread is traced again, as without us.
void end_traced_frames();

} // namespace pyharness::breakpoints
