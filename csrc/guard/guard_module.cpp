// The Python module pyharness._guard: the trap guard and the crash watch
// without torch, so that they are there from a program's first line on.
#include <Python.h>

#include <csrc/guard/crash_watch.h>
#include <csrc/guard/thread_stacks.h>
#include <csrc/guard/trap_guard.h>

#include <cerrno>
#include <cstddef>

namespace {

using pyharness::inspect::Words;

// A converter of PyArg_ParseTuple: bytes that end with a 0.
int to_words(PyObject* given, void* result) {
  auto* words = static_cast<Words*>(result);
  char* text = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(given, &text, &size) != 0) {
    return 0;
  }
  if (size == 0 || text[size - 1] != '\0') {
    PyErr_SetString(PyExc_ValueError, "no words with a 0 behind each");
    return 0;
  }
  *words = {text, static_cast<size_t>(size)};
  return 1;
}

PyObject* install_trap_guard(PyObject* /*module*/, PyObject* /*unused*/) {
  if (!pyharness::inspect::install_trap_guard()) {
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  Py_RETURN_NONE;
}

PyObject* healed_traps(PyObject* /*module*/, PyObject* /*unused*/) {
  return PyLong_FromUnsignedLong(pyharness::inspect::healed_traps());
}

PyObject* watch_crashes(PyObject* /*module*/, PyObject* arguments) {
  Words command{};
  Words environment{};
  int reader = 0;
  if (PyArg_ParseTuple(
          arguments,
          "O&O&i",
          to_words,
          &command,
          to_words,
          &environment,
          &reader) == 0) {
    return nullptr;
  }
  if (!pyharness::inspect::watch_crashes(command, environment, reader)) {
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  Py_RETURN_NONE;
}

PyObject* renew_crash_watch(PyObject* /*module*/, PyObject* arguments) {
  int alone = 0;
  if (PyArg_ParseTuple(arguments, "p", &alone) == 0) {
    return nullptr;
  }
  if (!pyharness::inspect::renew_crash_watch(alone != 0)) {
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  Py_RETURN_NONE;
}

PyObject* watch_thread_starts(PyObject* /*module*/, PyObject* /*unused*/) {
  pyharness::inspect::watch_thread_starts();
  Py_RETURN_NONE;
}

PyObject* start_unseen(PyObject* /*module*/, PyObject* arguments) {
  Words command{};
  Words environment{};
  if (PyArg_ParseTuple(
          arguments, "O&O&", to_words, &command, to_words, &environment) == 0) {
    return nullptr;
  }
  const pid_t child = pyharness::inspect::start_unseen(command, environment);
  if (child < 0) {
    errno = -child;
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  return PyLong_FromLong(child);
}

PyMethodDef methods[] = {
    {"watch_crashes",
     watch_crashes,
     METH_VARARGS,
     "Start a command, in an environment, at each crash: words, each ended by 0."},
    {"renew_crash_watch",
     renew_crash_watch,
     METH_VARARGS,
     "Put the handlers back: before others, or alone where those have left."},
    {"watch_thread_starts",
     watch_thread_starts,
     METH_NOARGS,
     "Look at libraries that were loaded: overflows of their threads are told."},
    {"start_unseen",
     start_unseen,
     METH_VARARGS,
     "Start a process that no wait() of this one sees; its process id."},
    {"install_trap_guard",
     install_trap_guard,
     METH_NOARGS,
     "Let this program outlive a debugger that is killed."},
    {"healed_traps",
     healed_traps,
     METH_NOARGS,
     "How many leftover breakpoints were put right."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    "_guard",
    "Lets a program outlive its debugger; use pyharness.native.",
    -1,
    methods,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
};

} // namespace

// For csrc/sanitized, which has no Python.
extern "C" __attribute__((visibility("default"))) int pyharness_tell_of(
    const void* report) {
  return pyharness::inspect::tell_of(report);
}

PyMODINIT_FUNC PyInit__guard() {
  return PyModule_Create(&module);
}
