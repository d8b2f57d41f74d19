// The Python module pyharness._guard: the trap guard without torch, so that it
// protects a program from its first line on.
#include <Python.h>

#include <csrc/guard/trap_guard.h>

namespace {

PyObject* install_trap_guard(PyObject* /*module*/, PyObject* /*unused*/) {
  if (!pyharness::inspect::install_trap_guard()) {
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  Py_RETURN_NONE;
}

PyObject* healed_traps(PyObject* /*module*/, PyObject* /*unused*/) {
  return PyLong_FromUnsignedLong(pyharness::inspect::healed_traps());
}

PyMethodDef methods[] = {
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

PyMODINIT_FUNC PyInit__guard() {
  return PyModule_Create(&module);
}
