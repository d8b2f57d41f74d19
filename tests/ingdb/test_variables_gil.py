"""A native stop that holds the GIL: Python's variables are read from memory; what needs Python says why not."""

import sys

import pytest
from variables_session import Looking

from kit.interpreters import waiting
from pyharness.gdbmi.client import GdbError


@pytest.fixture(scope="module")
def look():
    with waiting(sys.executable, "py_holds_gil.py") as (_, said):
        look = Looking()
        try:
            look.attach(said["pid"])
            yield look
        finally:
            look.gdb.close()


def test_local_variables_are_read(look):
    assert look.variables("hold", "Locals")["message"]["value"].startswith('b\'{"pid": ')
    assert look.variables("<module>", "Locals")["holding"]["type"] == "PyDLL"


def test_what_needs_python_says_why(look):
    with pytest.raises(GdbError) as error:
        look.evaluate("hold", "message.decode()")
    assert "the native stop holds the GIL, and no Python code can run" in error.value.message
    assert "step out to the Python line" in error.value.message


def test_a_class_and_its_instance_are_open(look):
    thread = look.evaluate("<module>", "libc")
    assert look.inside(thread, "_name")["value"] == "None"
    assert look.evaluate("<module>", "ctypes.CDLL._func_restype_")["value"] == "<class c_int>"
