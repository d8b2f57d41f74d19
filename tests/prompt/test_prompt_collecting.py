"""The prompt in what Python's garbage collector calls."""

import subprocess
import sysconfig

import pytest

from kit.dialogue import blocks

pytestmark = pytest.mark.rotated_tests(turns=9)


COLLECTED = """#include <Python.h>
static int held_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}
static PyObject *collect(PyObject *module, PyObject *nothing) {
  PyGC_Collect();
  return PyLong_FromLong(3);
}
static PyType_Slot slots[] = {{Py_tp_traverse, held_traverse}, {0, NULL}};
static PyType_Spec held = {
    "collected.Held", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
static PyMethodDef functions[] = {{"collect", collect, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "collected", NULL, -1, functions};
PyMODINIT_FUNC PyInit_collected(void) {
  PyObject *made = PyModule_Create(&module);
  PyModule_AddObject(made, "Held", PyType_FromSpec(&held));
  return made;
}
"""


def test_what_the_garbage_collector_calls(piped, tmp_path):
    """No step goes into it, and nothing runs Python there: that would find objects half counted, and crash."""
    (tmp_path / "collected.c").write_text(COLLECTED)
    includes = f"-I{sysconfig.get_path('include')}"
    builder = ["gcc", "-g", "-O0", "-fPIC", "-shared", includes, "-o", "collected.so", "collected.c"]
    subprocess.run(builder, check=True, cwd=tmp_path)
    program = tmp_path / "collects.py"
    program.write_text("import collected\nheld = collected.Held()\ncollected.collect()\ncollected.collect()\n")
    steps = [
        "b native:collect",
        "c",
        "s",
        "delete",
        "b native:held_traverse",
        "c",
        "p visit",
        "p py:held",
        "delete",
        "c",
    ]
    done = piped(steps, program=program, cwd=tmp_path)
    shown = blocks(done.stdout)
    assert "step · native · collect · " in shown["s"], done.stdout + done.stderr
    assert "collected.c:8" in shown["s"]
    assert "breakpoint · native · held_traverse" in done.stdout
    assert "The thread is in the midst of a garbage collection" in done.stderr
