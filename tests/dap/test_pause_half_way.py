"""A pause where the interpreter is half way through an object: what is asked there would be given the same one."""

import subprocess
import sysconfig

import pytest
from debugging import Debugging
from states import says

pytestmark = pytest.mark.rotated_tests(turns=5)

MAKES = """#include <Python.h>
static PyObject *make(PyObject *module, PyObject *count) {
  for (long left = PyLong_AsLong(count); left > 0; --left) {
    PyObject *made = PyList_New(0);
    Py_DECREF(made);
  }
  Py_RETURN_NONE;
}
static PyMethodDef functions[] = {{"make", make, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "makes", NULL, -1, functions};
PyMODINIT_FUNC PyInit_makes(void) { return PyModule_Create(&module); }
"""
PROGRAM = 'import makes\n\nprint("there", flush=True)\nmakes.make(10**12)\n'


@pytest.fixture
def making(dap, tmp_path):
    """A program that makes lists and drops them, and the thread that does."""
    (tmp_path / "makes.c").write_text(MAKES)
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run(
        ["gcc", "-g", "-O0", "-fPIC", "-shared", include, "-o", "makes.so", "makes.c"], check=True, cwd=tmp_path
    )
    script = tmp_path / "making.py"
    script.write_text(PROGRAM)
    program = Debugging(dap.stdio(), str(script)).launch()
    says(program.client, "there")
    (main,) = program.client.request("threads")["threads"]
    yield program, main["id"]
    program.leave()


def stands_in(program, main):
    """The frames of a program that has just stopped, and that of its Python code."""
    assert program.client.event("stopped")["threadId"] == main
    frames = program.stack(main)
    return frames, next(frame["id"] for frame in frames if frame["name"] == "<module>")


def test_a_thread_that_is_paused_comes_out_first(making):
    """Where it is asked there, the program crashes some time later."""
    program, main = making
    for _ in range(15):
        program.client.request("pause", threadId=main)
        frames, module = stands_in(program, main)
        assert "make" in [frame["name"] for frame in frames]
        assert program.evaluate("[1] + [2]", module) == "[1, 2]"
        program.client.request("continue", threadId=main)


def test_nothing_is_asked_where_instructions_are_stepped_through_the_making_of_an_object(making):
    program, main = making
    program.client.request("pause", threadId=main)
    _, module = stands_in(program, main)
    for _ in range(200):
        program.client.request("stepIn", threadId=main, granularity="instruction")
        frames, module = stands_in(program, main)
        if "PyList_New of" in frames[0]["name"]:
            break
    refused = program.client.refused("evaluate", expression="[1] + [2]", frameId=module, context="watch")
    assert "The thread is in the midst of PyList_New, half way through an object" in refused
    program.client.request("continue", threadId=main)
