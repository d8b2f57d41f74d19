// See monitored.h. All state is guarded by the GIL.
#include <csrc/trap/monitoring/monitored.h>

#include <csrc/trap/frames/asking.h>
#include <csrc/trap/monitoring/superinstructions.h>

#include <cstdint>

namespace {

using pyharness::breakpoints::Callbacks;
using pyharness::breakpoints::combine_instructions;
using pyharness::breakpoints::put_off;
using pyharness::breakpoints::said_of;

struct State {
  PyObject* lines_in = nullptr; // null: nobody debugs
  PyObject* is_stepping = nullptr;
  PyObject* may_stop = nullptr;
  PyObject* begins_threads = nullptr;
  PyObject* watches_lines = nullptr;
  PyObject* disable = nullptr;
  PyObject* lines = nullptr; // file name -> what `lines_in` said of it
  PyObject* beginners = nullptr; // the same of `begins_threads`
  Callbacks behind{nullptr, nullptr, nullptr};
  std::uintptr_t changes = 0;
};

constinit State state;

// Whoever fails to find something out leaves it to the debugger.
bool or_else(int truth, bool otherwise) {
  if (truth >= 0) {
    return truth != 0;
  }
  if (PyErr_Occurred() != nullptr) {
    put_off();
  }
  return otherwise;
}

// What `ask()` or `ask(argument)` says, and that where it fails.
bool says(PyObject* ask, PyObject* argument, bool otherwise) {
  if (ask == nullptr) { // it was ended meanwhile
    return otherwise;
  }
  Py_INCREF(ask);
  PyObject* said = PyObject_CallFunctionObjArgs(ask, argument, nullptr);
  Py_DECREF(ask);
  const bool truth =
      or_else(said != nullptr ? PyObject_IsTrue(said) : -1, otherwise);
  Py_XDECREF(said);
  return truth;
}

bool is_stepping() {
  return says(state.is_stepping, nullptr, true);
}

bool may_stop() {
  return says(state.may_stop, nullptr, true);
}

bool has_breakpoint(PyObject* code, PyObject* line) {
  PyObject* file = PyObject_GetAttrString(code, "co_filename");
  PyObject* lines = file != nullptr ? said_of(file, state.lines_in, state.lines)
                                    : nullptr;
  Py_XDECREF(file);
  const bool has =
      or_else(lines != nullptr ? PySet_Contains(lines, line) : -1, true);
  Py_XDECREF(lines);
  return has;
}

// Whether what leaves the innermost frame leaves its thread.
bool is_last_to_catch() {
  auto* frame = reinterpret_cast<PyObject*>(PyEval_GetFrame());
  PyObject* back = frame != nullptr ? PyObject_GetAttrString(frame, "f_back")
                                    : nullptr;
  if (back == nullptr || back == Py_None) {
    PyErr_Clear();
    Py_XDECREF(back);
    return true;
  }
  auto* code = reinterpret_cast<PyObject*>(
      PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(back)));
  Py_DECREF(back);
  PyObject* file = PyObject_GetAttrString(code, "co_filename");
  Py_DECREF(code);
  PyObject* begins = file != nullptr
      ? said_of(file, state.begins_threads, state.beginners)
      : nullptr;
  Py_XDECREF(file);
  const bool is_last =
      or_else(begins != nullptr ? PyObject_IsTrue(begins) : -1, true);
  Py_XDECREF(begins);
  return is_last;
}

void replace(PyObject*& before, PyObject* now) {
  PyObject* gone = before;
  before = now;
  Py_XDECREF(gone);
}

PyObject* call(PyObject* callback, PyObject* args) {
  if (callback == nullptr || callback == Py_None) {
    Py_RETURN_NONE;
  }
  PyObject* called = Py_NewRef(callback);
  PyObject* result = PyObject_Call(called, args, nullptr);
  Py_DECREF(called);
  return result;
}

} // namespace

bool pyharness::breakpoints::begin_monitored(const Monitored& monitored) {
  end_monitored();
  state.lines = PyDict_New();
  state.beginners = PyDict_New();
  if (state.lines == nullptr || state.beginners == nullptr) {
    end_monitored();
    return false;
  }
  state.is_stepping = Py_NewRef(monitored.is_stepping);
  state.may_stop = Py_NewRef(monitored.may_stop);
  state.begins_threads = Py_NewRef(monitored.begins_threads);
  state.watches_lines = Py_NewRef(monitored.watches_lines);
  state.disable = Py_NewRef(monitored.disable);
  state.lines_in = Py_NewRef(monitored.lines_in);
  return true;
}

bool pyharness::breakpoints::change_monitored(const Callbacks& behind) {
  PyObject* lines = PyDict_New();
  if (lines == nullptr) {
    return false;
  }
  ++state.changes;
  replace(state.lines, lines);
  replace(state.behind.start, Py_NewRef(behind.start));
  replace(state.behind.line, Py_NewRef(behind.line));
  replace(state.behind.unwind, Py_NewRef(behind.unwind));
  return true;
}

void pyharness::breakpoints::end_monitored() {
  ++state.changes;
  Py_CLEAR(state.lines_in);
  Py_CLEAR(state.is_stepping);
  Py_CLEAR(state.may_stop);
  Py_CLEAR(state.begins_threads);
  Py_CLEAR(state.watches_lines);
  Py_CLEAR(state.disable);
  Py_CLEAR(state.lines);
  Py_CLEAR(state.beginners);
  Py_CLEAR(state.behind.start);
  Py_CLEAR(state.behind.line);
  Py_CLEAR(state.behind.unwind);
}

PyObject* pyharness::breakpoints::start_event(PyObject*, PyObject* args) {
  const auto changes = state.changes;
  PyObject* result = call(state.behind.start, args);
  if (result == Py_None && state.lines_in != nullptr &&
      says(state.watches_lines, PyTuple_GetItem(args, 0), false) &&
      !may_stop() && changes == state.changes) {
    Py_DECREF(result);
    result = Py_NewRef(state.disable);
  }
  if (result != nullptr && result == state.disable) {
    combine_instructions(PyTuple_GetItem(args, 0));
  }
  return result;
}

PyObject* pyharness::breakpoints::resume_event(PyObject*, PyObject* args) {
  if (state.disable == nullptr) {
    Py_RETURN_NONE;
  }
  combine_instructions(PyTuple_GetItem(args, 0));
  return Py_NewRef(state.disable);
}

PyObject* pyharness::breakpoints::line_event(PyObject*, PyObject* args) {
  if (state.lines_in != nullptr && PyTuple_Size(args) == 2) {
    const auto changes = state.changes;
    if (!has_breakpoint(PyTuple_GetItem(args, 0), PyTuple_GetItem(args, 1)) &&
        changes == state.changes && !may_stop() && changes == state.changes) {
      return Py_NewRef(state.disable);
    }
  }
  return call(state.behind.line, args);
}

PyObject* pyharness::breakpoints::unwind_event(PyObject*, PyObject* args) {
  if (state.lines_in != nullptr && !is_last_to_catch()) {
    Py_RETURN_NONE;
  }
  return call(state.behind.unwind, args);
}

PyObject* pyharness::breakpoints::stepped_event(
    PyObject* callback,
    PyObject* args) {
  if (state.lines_in != nullptr && !is_stepping()) {
    Py_RETURN_NONE;
  }
  return call(callback, args);
}
