// See asking.h.
#include <csrc/trap/frames/asking.h>

namespace {

int raise_later(void* error) {
  auto* value = static_cast<PyObject*>(error);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(value)), value);
  Py_DECREF(value);
  return -1;
}

} // namespace

PyObject* pyharness::breakpoints::said_of(
    PyObject* file,
    PyObject* ask,
    PyObject* known) {
  if (ask == nullptr || known == nullptr) {
    return nullptr;
  }
  PyObject* said = PyDict_GetItemWithError(known, file);
  if (said != nullptr || PyErr_Occurred() != nullptr) {
    return Py_XNewRef(said);
  }
  Py_INCREF(ask); // others may end or forget it meanwhile
  Py_INCREF(known);
  said = PyObject_CallFunctionObjArgs(ask, file, nullptr);
  if (said != nullptr && PyDict_SetItem(known, file, said) < 0) {
    Py_CLEAR(said);
  }
  Py_DECREF(known);
  Py_DECREF(ask);
  return said;
}

void pyharness::breakpoints::put_off() {
  if (PyErr_ExceptionMatches(PyExc_Exception) != 0) {
    PyErr_Clear();
    return;
  }
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value != nullptr && Py_AddPendingCall(raise_later, value) == 0) {
    value = nullptr;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}
