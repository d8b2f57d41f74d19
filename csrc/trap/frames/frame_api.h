// What CPython 3.10 and 3.11 export of frames and code beyond the limited API,
// and keep the signatures of; others may lack some.
#pragma once

#include <Python.h>

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): the names are CPython's.

// Include/cpython/pystate.h, new in 3.11: null before.
__attribute__((weak)) void PyThreadState_EnterTracing(PyThreadState* thread);
__attribute__((weak)) void PyThreadState_LeaveTracing(PyThreadState* thread);

// The same, and ceval.h and code.h.
void* PyInterpreterState_Main();
void* PyInterpreterState_ThreadHead(void* interpreter);
using _PyFrameEvalFunction =
    PyObject* (*)(void* state, void* frame, int thrown);
__attribute__((weak)) _PyFrameEvalFunction
_PyInterpreterState_GetEvalFrameFunc(void* interpreter);
__attribute__((weak)) void _PyInterpreterState_SetEvalFrameFunc(
    void* interpreter,
    _PyFrameEvalFunction function);
__attribute__((weak)) PyObject*
_PyEval_EvalFrameDefault(void* state, void* frame, int thrown);
__attribute__((weak)) Py_ssize_t
_PyEval_RequestCodeExtraIndex(void (*free)(void*));
__attribute__((weak)) int
_PyCode_GetExtra(PyObject* code, Py_ssize_t index, void** extra);
__attribute__((weak)) int
_PyCode_SetExtra(PyObject* code, Py_ssize_t index, void* extra);

// NOLINTEND(readability-identifier-naming)
}
