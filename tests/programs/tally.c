// The module `tally`: a plain C extension that calls back.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static long weigh(long number) {
  long weight = number * 3; // @weight
  return weight;
}

static PyObject* add(PyObject* module, PyObject* args) {
  PyObject* heard; // @add
  long number;
  if (!PyArg_ParseTuple(args, "Ol", &heard, &number)) { // @first
    return NULL;
  }
  long weight = weigh(number); // @weighs
  return PyObject_CallFunction(heard, "l", weight); // @calls_back
}

static PyMethodDef functions[] = {
    {"add", add, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module =
    {PyModuleDef_HEAD_INIT, "tally", NULL, -1, functions};

PyMODINIT_FUNC PyInit_tally(void) {
  return PyModule_Create(&module);
}
