"""The function of Python's C API that native code has called, by the innermost frames of a thread without the GIL."""

import pytest

from pyharness.model.frames import Frame
from pyharness.model.unlocked_call import unlocked_call

PYTHON, USER, LIBC = "/usr/bin/python3.11", "/home/me/ext/_C.so", "/lib/x86_64-linux-gnu/libc.so.6"


def native(function, library):
    return Frame("native", function, library=library)


USERS = [native("ext::f", USER), native("cfunction_call", PYTHON), Frame("python", "train", "/home/me/train.py", 3)]


@pytest.mark.parametrize(
    ("frames", "function"),
    [
        ([("PyList_New", PYTHON)], "PyList_New"),
        ([("gc_alloc", PYTHON), ("PyList_New", PYTHON)], "PyList_New"),
        (
            [("raise", LIBC), ("abort", LIBC), ("fatal_error", PYTHON), ("PyThreadState_Get", PYTHON)],
            "PyThreadState_Get",
        ),
        ([("_Py_Dealloc", PYTHON), ("Py_DECREF", USER)], "Py_DECREF"),
        ([("take_gil", PYTHON), ("PyEval_RestoreThread", PYTHON)], ""),
        ([("take_gil", PYTHON), ("PyGILState_Ensure", PYTHON)], ""),
        ([("_PyMem_RawMalloc", PYTHON), ("PyMem_RawMalloc", PYTHON)], ""),
        ([("??", PYTHON)], "Python"),
        ([("inflate", PYTHON), ("Py_BytesMain", PYTHON), ("__libc_start_main", LIBC)], ""),
        ([("inflate", PYTHON), ("pythread_wrapper", PYTHON), ("start_thread", LIBC)], ""),
        ([("memcpy", LIBC)], ""),
        ([], ""),
    ],
)
def test_the_function_that_native_code_has_called(frames, function):
    said = unlocked_call([*(native(*one) for one in frames), *USERS], python_runs=True)
    assert said.partition(" was called without the GIL")[0] == function


def test_python_that_runs_within_the_call():
    called = [native("list_dealloc", PYTHON), Frame("python", "callback", "/home/me/a.py", 2)]
    said = unlocked_call([*called, native("PyObject_CallNoArgs", PYTHON), *USERS], python_runs=True)
    assert said.startswith("PyObject_CallNoArgs was called without the GIL")


def test_where_python_is_not_there():
    frames = [native("_Py_Dealloc", PYTHON), native("Py_DECREF", USER), native("ext::Kept::~Kept", USER)]
    assert unlocked_call(frames, python_runs=False) == ""  # it may not have begun, or cannot be read
    said = unlocked_call([*frames, native("__cxa_finalize", LIBC), native("exit", LIBC)], python_runs=False)
    assert said.startswith("Py_DECREF was called when Python had ended, by _C.so at exit")
