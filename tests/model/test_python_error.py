"""The type and the message of what Python says of an exception, behind what was printed before."""

import subprocess
import sys

import pytest

from pyharness.model.text.python_error import prints_and_error

GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "several.py", line 2, in <module>
  |     raise ExceptionGroup("several", [ValueError(1), KeyError(2)])
  | ExceptionGroup: several (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "several.py", line 1, in <module>
    | ValueError: 1
    +---------------- 2 ----------------
    | KeyError: 2
    +------------------------------------
"""
"""A group of exceptions, as Python prints it from 3.11 on."""


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("try:\n    1 / 0\nexcept Exception:\n    unheard_of", "NameError: name 'unheard_of' is not defined"),
        ("raise ValueError('two\\nKeyError: lines')", "ValueError: two"),
    ],
)
def test_of_one_and_of_a_chain(code, error):
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert prints_and_error(said) == ("", error)
    assert prints_and_error(f"printed\n{said}") == ("printed\n", error)


def test_of_a_group_and_of_what_came_while_one_was_handled():
    assert prints_and_error(GROUP) == ("", "ExceptionGroup: several (2 sub-exceptions)")
    handled = (
        f"x\n{GROUP}\nDuring handling of the above exception, another exception occurred:\n\nNameError: unheard_of\n"
    )
    assert prints_and_error(handled) == ("x\n", "NameError: unheard_of")


def test_nothing_else_is_a_traceback():
    assert prints_and_error("Expression takes too long.") is None
