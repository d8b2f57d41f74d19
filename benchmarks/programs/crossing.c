/* A function to step into and out of: its module needs nothing but Python. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static long twice(long number) {
  long doubled = 2 * number;
  return doubled;
}

static PyObject* call(PyObject* self, PyObject* argument) {
  long number = PyLong_AsLong(argument);
  return PyLong_FromLong(twice(number));
}

static PyMethodDef methods[] = {{"call", call, METH_O, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "crossing", "", -1, methods};

PyMODINIT_FUNC PyInit_crossing(void) {
  return PyModule_Create(&module);
}
