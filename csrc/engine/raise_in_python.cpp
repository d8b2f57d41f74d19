// See raise_in_python.h.
#include <csrc/engine/raise_in_python.h>

#include <csrc/engine/python_frames.h>

#include <cstdint>

namespace pyharness::engine {

namespace {

// Has it raised where nobody minds. To send null in its place would leave the
// interpreter looking for errors for ever (a mistake of CPython's).
void let_sent_error_out() {
  if (PyThreadState_Get()->async_exc == nullptr) {
    return;
  }
  PyObject* names = PyDict_New();
  PyObject* result = PyRun_String("None", Py_eval_input, names, names);
  if (result == nullptr) {
    PyErr_Clear();
  }
  Py_XDECREF(result);
  Py_XDECREF(names);
}

} // namespace

#ifdef PYHARNESS_PYTHON_FRAMES

namespace {

// Python looks for a trace function before each instruction, so one that is set
// now is called before the next: it puts everything back and raises. What
// Python has for errors from elsewhere (PyThreadState_SetAsyncExc) waits for
// the end of a call: `x / y` is none.
struct Waiting {
  PyObject* error = nullptr;
  PyFrameObject* frame = nullptr;
  bool frame_told_opcodes = false;
  bool frame_had_trace = false;
  Py_tracefunc trace = nullptr; // a debugger's
  PyObject* trace_argument = nullptr;
#if PY_VERSION_HEX >= 0x030B0000
  _Py_CODEUNIT* instruction = nullptr; // the one that called
#endif
};

thread_local Waiting waiting;

void set_flag(PyFrameObject* frame, const char* name, PyObject* value) {
  PyObject_SetAttrString(reinterpret_cast<PyObject*>(frame), name, value);
}

void set_opcodes(PyFrameObject* frame, bool told) {
  set_flag(frame, "f_trace_opcodes", told ? Py_True : Py_False);
}

// Since 3.13 a frame tells its instructions only where it has one.
bool has_trace(PyFrameObject* frame) {
  PyObject* trace =
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(frame), "f_trace");
  const bool has = trace != Py_None;
  Py_XDECREF(trace);
  return has;
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
  if (!was.frame_had_trace) {
    set_flag(was.frame, "f_trace", Py_None);
  }
  PyEval_SetTrace(was.trace, was.trace_argument);
  Py_XDECREF(was.trace_argument);
  Py_DECREF(was.frame);
  return was.error;
}

#if PY_VERSION_HEX >= 0x030B0000

_Py_CODEUNIT*& instruction_of(_PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030D0000
  return frame->instr_ptr;
#else
  return frame->prev_instr;
#endif
}

// A number of the exception table, and where the next one begins:
// Objects/exception_handling_notes.txt of CPython 3.11.
std::int64_t read_number(const std::uint8_t*& at) {
  std::int64_t number = *at & 63;
  while ((*at & 64) != 0) {
    number = number << 6 | (*++at & 63);
  }
  ++at;
  return number;
}

// Where an error of this instruction goes; -1 for out of the function.
std::int64_t handler_of(PyCodeObject* code, const _Py_CODEUNIT* instruction) {
  const auto index = instruction - instructions_of(code);
  const auto* at = reinterpret_cast<const std::uint8_t*>(
      PyBytes_AS_STRING(code->co_exceptiontable));
  const auto* end = at + PyBytes_GET_SIZE(code->co_exceptiontable);
  while (at < end) {
    const auto first = read_number(at);
    const auto size = read_number(at);
    const auto handler = read_number(at);
    read_number(at); // depth of the stack there
    if (first <= index && index < first + size) {
      return handler;
    }
  }
  return -1;
}

// Before the next instruction, for which Python will look for a handler. The
// traceback is to name the one that called. False where that has another
// handler, as the last call in a `with` has.
bool blame_caller(PyFrameObject* frame, _Py_CODEUNIT* caller) {
  auto* running = frame->f_frame;
  auto* code = described(running).code;
  auto*& at = instruction_of(running);
  if (handler_of(code, at) != handler_of(code, caller)) {
    return false;
  }
  at = caller;
  return true;
}

#endif

int raise_now(PyObject* /*self*/, PyFrameObject* frame, int what, PyObject*) {
  if (frame != waiting.frame) {
    return 0; // something native called Python before it returned
  }
#if PY_VERSION_HEX >= 0x030B0000
  auto* caller = waiting.instruction;
#endif
  PyObject* error = put_back();
  bool here = what == PyTrace_LINE || what == PyTrace_OPCODE;
#if PY_VERSION_HEX >= 0x030B0000
  if (here && !blame_caller(frame, caller)) {
    PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), error);
    here = false;
  }
#endif
  if (here) { // else another error is on its way
    PyErr_SetNone(error);
  }
  Py_DECREF(error);
  return here ? -1 : 0;
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
      has_trace(frame),
      state->c_tracefunc,
      state->c_traceobj};
#if PY_VERSION_HEX >= 0x030B0000
  waiting.instruction = instruction_of(frame->f_frame);
#endif
  if (!waiting.frame_had_trace) {
    set_flag(frame, "f_trace", Py_True);
  }
  set_opcodes(frame, true);
  PyEval_SetTrace(&raise_now, nullptr);
}

void forget_error_in_python() {
  if (waiting.error != nullptr) {
    Py_DECREF(put_back());
  }
  let_sent_error_out();
}

#else

void raise_in_python(PyObject* error) {
  PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), error);
}

void forget_error_in_python() {
  let_sent_error_out();
}

#endif

} // namespace pyharness::engine
