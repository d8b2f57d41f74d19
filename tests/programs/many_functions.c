// A module with 20,000 functions and more of its own; one of those that Python
// calls has its source among a library's headers.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define ONE(n)        \
  long f##n(long x) { \
    return x + n;     \
  }
#define TEN(n)                                                          \
  ONE(n##0)                                                             \
  ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) \
      ONE(n##8) ONE(n##9)
#define HUNDRED(n)                                                      \
  TEN(n##0)                                                             \
  TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) \
      TEN(n##8) TEN(n##9)
#define THOUSAND(n)                                                     \
  HUNDRED(n##0)                                                         \
  HUNDRED(n##1) HUNDRED(n##2) HUNDRED(n##3) HUNDRED(n##4) HUNDRED(n##5) \
      HUNDRED(n##6) HUNDRED(n##7) HUNDRED(n##8) HUNDRED(n##9)
#define TEN_THOUSAND(n)                                                      \
  THOUSAND(n##0)                                                             \
  THOUSAND(n##1) THOUSAND(n##2) THOUSAND(n##3) THOUSAND(n##4) THOUSAND(n##5) \
      THOUSAND(n##6) THOUSAND(n##7) THOUSAND(n##8) THOUSAND(n##9)
TEN_THOUSAND(1)
TEN_THOUSAND(2)
long f5(long x) {
  return x + 5;
}

static PyObject* call(PyObject* self, PyObject* argument) {
  long number = PyLong_AsLong(argument); // @call
  long sum = f5(number); // @calls
  return PyLong_FromLong(sum);
}

static PyObject* inner(PyObject* argument) {
  return PyNumber_Absolute(argument); // @inner
}

static PyObject* recursive(PyObject* self, PyObject* argument) {
  long depth = PyLong_AsLong(argument);
  PyObject* less = PyLong_FromLong(depth - 1);
  PyObject* found = depth > 1 ? recursive(self, less) : PyLong_FromLong(0);
  Py_DECREF(less);
  return found;
}

static PyObject* through(PyObject* self, PyObject* argument);

static PyMethodDef methods[] = {
    {"call", call, METH_O, NULL},
    {"through", through, METH_O, NULL},
    {"recursive", recursive, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "many_functions",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit_many_functions(void) {
  return PyModule_Create(&module);
}

#line 1 "/usr/include/somebody_elses.h"
static PyObject* through(PyObject* self, PyObject* argument) {
  return inner(argument);
}
