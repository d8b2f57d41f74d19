// See known_code.h.
#include <csrc/trap/frames/known_code.h>

#include <csrc/trap/frames/asking.h>
#include <csrc/trap/frames/frame_api.h>
#include <csrc/trap/frames/tracing_state.h>

#include <cstdint>

using pyharness::breakpoints::frames;

namespace {

constexpr int kWaits = 0xA0; // CO_GENERATOR and CO_COROUTINE

bool has_lines(PyObject* code, PyObject* lines) {
  PyObject* ranges = PyObject_CallMethod(code, "co_lines", nullptr);
  PyObject* each = ranges != nullptr ? PyObject_GetIter(ranges) : nullptr;
  Py_XDECREF(ranges);
  int has = 0;
  while (each != nullptr && has == 0) {
    PyObject* range = PyIter_Next(each); // start, end, line
    if (range == nullptr) {
      break;
    }
    has = PySet_Contains(lines, PyTuple_GetItem(range, 2));
    Py_DECREF(range);
  }
  Py_XDECREF(each);
  return has != 0 || PyErr_Occurred() != nullptr;
}

} // namespace

bool pyharness::breakpoints::is_in(
    PyObject* tuple,
    PyObject* object,
    PyObject* or_this) {
  for (Py_ssize_t index = 0; index < PyTuple_Size(tuple); ++index) {
    PyObject* each = PyTuple_GetItem(tuple, index);
    if (each == object || each == or_this) {
      return true;
    }
  }
  return false;
}

bool pyharness::breakpoints::learn(PyObject* code, PyObject* file) {
  const auto since = frames.known_since;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace); // a generator may begin with one
  own.learns = true;
  bool stops = frames.wanted.outermost && is_in(frames.entries, code, nullptr);
  PyObject* lines = stops ? nullptr
                          : said_of(file, frames.lines_in, frames.lines);
  if (lines != nullptr) {
    stops = PySet_Size(lines) != 0 && has_lines(code, lines);
    Py_DECREF(lines);
  }
  if (PyErr_Occurred() != nullptr) {
    put_off();
    stops = true;
  } else {
    auto* known = reinterpret_cast<void*>(since << 1U | (stops ? 1U : 0U));
    if (_PyCode_SetExtra(code, frames.known_at, known) < 0) {
      PyErr_Clear();
    }
  }
  own.learns = false;
  PyErr_Restore(type, value, trace);
  return stops;
}

void pyharness::breakpoints::adopt() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace); // a generator may begin with one
  own.learns = true;
  PyObject* adopt = Py_NewRef(frames.adopt); // it may be ended meanwhile
  PyObject* result = PyObject_CallNoArgs(adopt);
  if (result == nullptr) {
    put_off();
  }
  Py_XDECREF(result);
  Py_DECREF(adopt);
  own.learns = false;
  PyErr_Restore(type, value, trace);
}

bool pyharness::breakpoints::passes(PyObject* frame, PyObject* file) {
  if (frames.everywhere || frames.lines == nullptr) {
    return false;
  }
  auto* standing = reinterpret_cast<PyFrameObject*>(frame);
  PyObject* lines = PyDict_GetItemWithError(frames.lines, file);
  PyObject* line = lines != nullptr
      ? PyLong_FromLong(PyFrame_GetLineNumber(standing))
      : nullptr;
  const int stops = line != nullptr ? PySet_Contains(lines, line) : 1;
  Py_XDECREF(line);
  PyErr_Clear();
  return stops == 0;
}

void pyharness::breakpoints::tell_begun(PyObject* self) {
  if (frames.tracer == nullptr) {
    return;
  }
  constexpr int kCall = 0; // PyTrace_CALL
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace); // a generator may begin with one
  PyThreadState* thread = PyThreadState_Get();
  PyThreadState_EnterTracing(thread);
  auto* frame = reinterpret_cast<PyObject*>(PyEval_GetFrame());
  if (frames.tracer(self, frame, kCall, Py_None) != 0) {
    put_off();
  }
  PyThreadState_LeaveTracing(thread);
  PyErr_Restore(type, value, trace);
}

void pyharness::breakpoints::tell_left(
    PyObject* frame,
    int flags,
    bool raises) {
  PyObject* left = Py_XNewRef((flags & kWaits) != 0 ? frames.left : nullptr);
  if (left != nullptr) {
    PyObject* result = PyObject_CallFunctionObjArgs(
        left, frame, raises ? Py_True : Py_False, nullptr);
    if (result == nullptr) {
      put_off();
    }
    Py_XDECREF(result);
    Py_DECREF(left);
  }
}
