// Calls Python where this thread does not hold the GIL, and what crashes for
// other reasons.
#include <Python.h>
#include <pthread.h>
#include <stdlib.h>

static PyObject* raises(PyObject* module, PyObject* given) {
  Py_BEGIN_ALLOW_THREADS
  PyErr_SetString(PyExc_ValueError, "nobody hears it"); // @raises
  Py_END_ALLOW_THREADS
  return NULL;
}

static PyObject* asks(PyObject* module, PyObject* given) {
  Py_BEGIN_ALLOW_THREADS
  PyThreadState_Get(); // @asks
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

static void* call(void* given) {
  return PyObject_CallNoArgs((PyObject*)given); // @of_a_thread
}

static PyObject* of_a_thread(PyObject* module, PyObject* given) {
  pthread_t thread;
  Py_BEGIN_ALLOW_THREADS
  pthread_create(&thread, NULL, call, given);
  pthread_join(thread, NULL);
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

static PyObject* locked(PyObject* module, PyObject* given) {
  PyObject* said = PyObject_Repr((PyObject*)8); // @locked
  return said;
}

static PyObject* of_its_own(PyObject* module, PyObject* given) {
  Py_BEGIN_ALLOW_THREADS
  *(volatile int*)8 = 1; // @of_its_own
  Py_END_ALLOW_THREADS
  Py_RETURN_NONE;
}

static void last_call(void) {
  PyList_New(0); // @at_exit
}

static PyObject* at_exit(PyObject* module, PyObject* given) {
  atexit(last_call);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"raises", raises, METH_O, NULL},
    {"asks", asks, METH_O, NULL},
    {"of_a_thread", of_a_thread, METH_O, NULL},
    {"locked", locked, METH_O, NULL},
    {"of_its_own", of_its_own, METH_O, NULL},
    {"at_exit", at_exit, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "unlocked", NULL, -1, functions};

PyMODINIT_FUNC PyInit_unlocked(void) {
  return PyModule_Create(&definition);
}
