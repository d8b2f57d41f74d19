// The module `plain`: a C extension that any CPython can have, without pybind11 and torch.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>

static long sum_below(long count) {
  long sum = 0; // @sum
  for (long number = 0; number < count; ++number) {
    sum += number;
  }
  return sum; // @sum_end
}

static PyObject* total(PyObject* module, PyObject* args) {
  long count = 0; // @total
  if (!PyArg_ParseTuple(args, "l", &count)) {
    return NULL;
  }
  long sum = sum_below(count); // @total_calls
  return PyLong_FromLong(sum);
}

static PyObject* without_gil(PyObject* module, PyObject* args) {
  long sum = 0;
  Py_BEGIN_ALLOW_THREADS
  sum = sum_below(3); // @without_gil
  Py_END_ALLOW_THREADS
  return PyLong_FromLong(sum);
}

static PyObject* fails(PyObject* module, PyObject* args) {
  PyErr_SetString(PyExc_ValueError, "no such number");
  errno = 1234;
  long sum = sum_below(4); // @on_its_way
  if (errno != 1234) {
    PyErr_SetString(PyExc_OSError, "errno was lost");
  }
  return sum == 6 ? NULL : PyLong_FromLong(sum);
}

static PyObject* calls(PyObject* module, PyObject* function) {
  PyObject* given = PyObject_CallNoArgs(function); // @calls_back
  if (given == NULL) {
    return NULL;
  }
  long sum = sum_below(2); // @called_back
  return sum == 1 ? given : NULL;
}

static PyMethodDef functions[] = {
    {"total", total, METH_VARARGS, NULL},
    {"without_gil", without_gil, METH_NOARGS, NULL},
    {"fails", fails, METH_NOARGS, NULL},
    {"calls", calls, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "plain", NULL, -1, functions};

PyMODINIT_FUNC PyInit_plain(void) {
  return PyModule_Create(&module);
}
