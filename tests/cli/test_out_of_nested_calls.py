"""``out`` comes to each caller in its turn, where C and Python call each other back: none is passed or shown early."""

import subprocess
import sysconfig

import pytest

SOURCE = """#include <Python.h>
static PyObject *leaf(PyObject *module, PyObject *nothing) {
  return PyLong_FromLong(2);
}
static PyObject *call(PyObject *module, PyObject *function) {
  PyObject *result = PyObject_CallNoArgs(function);
  return result;
}
static PyMethodDef functions[] = {{"leaf", leaf, METH_NOARGS, 0}, {"call", call, METH_O, 0}, {0, 0, 0, 0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "calls", 0, -1, functions};
PyMODINIT_FUNC PyInit_calls(void) { return PyModule_Create(&module); }
"""
NESTED = """import calls
def inner():
    return calls.leaf()
def outer():
    return calls.call(inner)
calls.call(outer)
print("over")
"""
TWICE = """import calls
def deepest():
    return 3
def called():
    number = deepest()
    return number
calls.call(called)
print("over")
"""
CALL = "call · calls.c:6"


@pytest.mark.parametrize(
    ("script", "at", "stops"),
    [
        (NESTED, "native:leaf", ["leaf · calls.c:3", CALL, CALL, "<module> · script.py:7"]),
        (
            TWICE,
            "py:script.py:deepest",
            ["deepest · script.py:3", "called · script.py:5", CALL, "<module> · script.py:8"],
        ),
    ],
    ids=["nested", "twice"],
)
def test_each_caller_is_come_to(pyharness, tmp_path, script, at, stops):
    (tmp_path / "calls.c").write_text(SOURCE)
    (tmp_path / "script.py").write_text(script)
    includes = f"-I{sysconfig.get_path('include')}"
    builder = ["gcc", "-g", "-O0", "-fPIC", "-shared", includes, "-o", "calls.so", "calls.c"]
    subprocess.run(builder, check=True, cwd=tmp_path)
    done = pyharness("step", "script.py", "--at", at, "--out", "--out", "--out")
    told = [line.split(" · ", 2)[2] for line in done.stdout.splitlines() if line[:1].isdigit() and " · " in line]
    assert told == stops, done.stdout + done.stderr
    assert (done.returncode, done.stderr) == (0, "")
