"""Attributes of Python objects from memory, however each version of CPython keeps them."""

import pytest

from kit.interpreters import python_of, readable_cases, waiting
from pyharness.reading.python.attributes import attributes, bases, type_module

SLOTS = {"slotted": ["width"], "both": ["width", "extra"]}
AFTER_ITEMS = {"counted"}
"""An int has its digits before its ``__dict__`` up to 3.11: those attributes are not looked for."""


@pytest.fixture(scope="module", params=readable_cases())
def program(request):
    with waiting(request.param, "py_attributes.py") as (_, said), python_of(said["pid"]) as python:
        yield python, said["objects"]


def test_every_object_shows_its_attributes(program):
    python, objects = program
    for name, said in objects.items():
        found = [key for key, _ in attributes(python.values, said["at"])]
        if name in AFTER_ITEMS:
            assert found in ([], said["names"])
        else:
            assert found == SLOTS.get(name, said["names"]), name


def test_their_values(program):
    python, objects = program
    found = dict(attributes(python.values, objects["untouched"]["at"]))
    assert {name: python.values.describe(address) for name, address in found.items()} == {
        "first": "1",
        "second": "'two'",
    }


def test_types_know_their_module(program):
    python, objects = program
    assert type_module(python.values, objects["plain"]["at"]) == "__main__"
    assert [name for name, _ in bases(python.values, objects["both"]["at"])] == [
        "__main__.Both",
        "__main__.Slotted",
        "object",
    ]
