// The Python module pyharness._trap. Plain C API: it must not need torch, which
// the user's program imports when it likes.
#include <Python.h>

#include <csrc/trap/frames/traced_frames.h>
#include <csrc/trap/memory_limit.h>
#include <csrc/trap/monitoring/bind_monitored.h>
#include <csrc/trap/trap.h>

namespace {

PyObject* python_line(PyObject* /*module*/, PyObject* args) {
  const char* file = nullptr;
  int line = 0;
  const char* function = nullptr;
  const char* why = nullptr;
  if (PyArg_ParseTuple(
          args, "siss:python_line", &file, &line, &function, &why) == 0) {
    return nullptr;
  }
  pyharness_python_line(file, line, function, why);
  Py_RETURN_NONE;
}

PyObject* program_ends(PyObject* /*module*/, PyObject* args) {
  const char* report = nullptr;
  if (PyArg_ParseTuple(args, "s:program_ends", &report) == 0) {
    return nullptr;
  }
  pyharness_program_ends(report);
  Py_RETURN_NONE;
}

PyObject* set_agent(PyObject* /*module*/, PyObject* agent) {
  pyharness::breakpoints::set_agent(agent == Py_None ? nullptr : agent);
  Py_RETURN_NONE;
}

PyObject* addresses(PyObject* /*module*/, PyObject* /*unused*/) {
  return Py_BuildValue(
      "{s:K,s:K,s:K,s:n,s:K}",
      "call",
      reinterpret_cast<unsigned long long>(&pyharness_agent),
      "request",
      reinterpret_cast<unsigned long long>(&pyharness_request[0]),
      "answer",
      reinterpret_cast<unsigned long long>(&pyharness_answer[0]),
      "size",
      static_cast<Py_ssize_t>(pyharness::breakpoints::kMessageSize),
      "python_line",
      reinterpret_cast<unsigned long long>(&pyharness_python_line));
}

PyObject* begin_memory_limit(PyObject* /*module*/, PyObject* bytes) {
  const std::size_t limit = PyLong_AsSize_t(bytes);
  if (PyErr_Occurred() != nullptr) {
    return nullptr;
  }
  pyharness::breakpoints::begin_memory_limit(limit);
  Py_RETURN_NONE;
}

PyObject* end_memory_limit(PyObject* /*module*/, PyObject* /*unused*/) {
  pyharness::breakpoints::end_memory_limit();
  Py_RETURN_NONE;
}

PyObject* begin_traced_frames(PyObject* /*module*/, PyObject* args) {
  PyObject* lines_in = nullptr;
  PyObject* tracers = nullptr;
  PyObject* entries = nullptr;
  PyObject* left = nullptr;
  PyObject* adopt = nullptr;
  if (PyArg_ParseTuple(
          args,
          "OO!O!OO:begin_traced_frames",
          &lines_in,
          &PyTuple_Type,
          &tracers,
          &PyTuple_Type,
          &entries,
          &left,
          &adopt) == 0) {
    return nullptr;
  }
  const int begun = pyharness::breakpoints::begin_traced_frames(
      lines_in, tracers, entries, left, adopt);
  return begun < 0 ? nullptr : PyLong_FromLong(begun);
}

PyObject* change_traced_frames(PyObject* /*module*/, PyObject* args) {
  int everywhere = 0;
  int lines = 0;
  int always = 0;
  int outermost = 0;
  int forget = 0;
  PyObject* running = nullptr;
  if (PyArg_ParseTuple(
          args,
          "pppppO!:change_traced_frames",
          &everywhere,
          &lines,
          &always,
          &outermost,
          &forget,
          &PyTuple_Type,
          &running) == 0 ||
      !pyharness::breakpoints::change_traced_frames(
          {everywhere != 0, lines != 0, always != 0, outermost != 0},
          forget != 0,
          running)) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* end_traced_frames(PyObject* /*module*/, PyObject* /*unused*/) {
  pyharness::breakpoints::end_traced_frames();
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"begin_traced_frames",
     begin_traced_frames,
     METH_VARARGS,
     "begin_traced_frames(lines_in, tracers, entries, left, adopt): see "
     "traced_frames.h; 0 where this Python has no such."},
    {"change_traced_frames",
     change_traced_frames,
     METH_VARARGS,
     "change_traced_frames(everywhere, lines, always, outermost, forget, "
     "running): what is to be traced now."},
    {"end_traced_frames",
     end_traced_frames,
     METH_NOARGS,
     "Every frame is traced again."},
    {"python_line",
     python_line,
     METH_VARARGS,
     "python_line(file, line, function, why): gdb stops here."},
    {"program_ends",
     program_ends,
     METH_VARARGS,
     "program_ends(report): gdb looks in here."},
    {"set_agent",
     set_agent,
     METH_O,
     "set_agent(callable | None): str -> str, called on a stopped thread."},
    {"addresses",
     addresses,
     METH_NOARGS,
     "Addresses of the agent, its request and its answer, their size, and of "
     "pyharness_python_line."},
    {"begin_memory_limit",
     begin_memory_limit,
     METH_O,
     "begin_memory_limit(bytes): what this thread allocates fails when the "
     "process has grown by so much."},
    {"end_memory_limit",
     end_memory_limit,
     METH_NOARGS,
     "End the limit of this thread."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    "_trap",
    "Where gdb stops for a Python line, and how it asks; used by pyharness.debuggee.",
    -1,
    methods,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

} // namespace

PyMODINIT_FUNC PyInit__trap() {
  PyObject* made = PyModule_Create(&module);
  if (made != nullptr && !pyharness::breakpoints::add_monitored(made)) {
    Py_CLEAR(made);
  }
  return made;
}
