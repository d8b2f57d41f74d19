// See raise_in_python.h.
#include <csrc/engine/raise_in_python.h>

namespace pyharness::engine {

#if PY_VERSION_HEX < 0x030C0000

namespace {

// Python looks for a trace function before each instruction, so one that is set
// now is called before the next: it puts everything back and raises. What
// Python has for errors from elsewhere (PyThreadState_SetAsyncExc) waits for
// the end of a call: `x / y` is none.
struct Waiting {
  PyObject* error = nullptr;
  PyFrameObject* frame = nullptr;
  bool frame_told_opcodes = false;
  Py_tracefunc trace = nullptr; // a debugger's
  PyObject* trace_argument = nullptr;
};

thread_local Waiting waiting;

void set_opcodes(PyFrameObject* frame, bool told) {
  PyObject_SetAttrString(
      reinterpret_cast<PyObject*>(frame),
      "f_trace_opcodes",
      told ? Py_True : Py_False);
}

bool tells_opcodes(PyFrameObject* frame) {
  PyObject* told = PyObject_GetAttrString(
      reinterpret_cast<PyObject*>(frame), "f_trace_opcodes");
  const bool yes = told == Py_True;
  Py_XDECREF(told);
  return yes;
}

// The error, which is the caller's to release.
PyObject* put_back() {
  const Waiting was = waiting;
  waiting = {};
  set_opcodes(was.frame, was.frame_told_opcodes);
  PyEval_SetTrace(was.trace, was.trace_argument);
  Py_XDECREF(was.trace_argument);
  Py_DECREF(was.frame);
  return was.error;
}

int raise_now(PyObject* /*self*/, PyFrameObject* frame, int, PyObject*) {
  if (frame != waiting.frame) {
    return 0; // something native called Python before it returned
  }
  PyObject* error = put_back();
  PyErr_SetNone(error);
  Py_DECREF(error);
  return -1;
}

} // namespace

void raise_in_python(PyObject* error) {
  auto* frame = PyEval_GetFrame();
  if (frame == nullptr || waiting.error != nullptr) {
    return;
  }
  auto* state = PyThreadState_Get();
  Py_INCREF(error);
  Py_INCREF(frame);
  Py_XINCREF(state->c_traceobj);
  waiting = {
      error,
      frame,
      tells_opcodes(frame),
      state->c_tracefunc,
      state->c_traceobj};
  set_opcodes(frame, true);
  PyEval_SetTrace(&raise_now, nullptr);
}

void forget_error_in_python() {
  if (waiting.error != nullptr) {
    Py_DECREF(put_back());
  }
}

#else

void raise_in_python(PyObject* error) {
  PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), error);
}

void forget_error_in_python() {
  PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), nullptr);
}

#endif

} // namespace pyharness::engine
