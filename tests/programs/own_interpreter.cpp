// An interpreter whose own file has debug information, as one has that was
// built by hand: it is Python's, with a function of its own that calls what it
// is given.

#include <Python.h>

static PyObject* apply(PyObject*, PyObject* arguments) {
  PyObject* function = PyTuple_GetItem(arguments, 0);
  PyObject* argument = PyTuple_GetItem(arguments, 1);
  PyObject* result = PyObject_CallFunctionObjArgs(function, argument, nullptr);
  return result;
}

static PyMethodDef methods[] = {
    {"apply", apply, METH_VARARGS, ""},
    {nullptr, nullptr, 0, nullptr}};
static PyModuleDef part = {
    PyModuleDef_HEAD_INIT,
    "interpreters_own",
    "",
    -1,
    methods,
    nullptr,
    nullptr,
    nullptr,
    nullptr};

int main(int count, char** words) {
  PyImport_AppendInittab(
      "interpreters_own", [] { return PyModule_Create(&part); });
  return Py_BytesMain(count, words);
}
