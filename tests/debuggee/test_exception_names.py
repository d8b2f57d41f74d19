"""Exceptions by the names that people write."""

import json

import pytest

from pyharness.debuggee.pydevd.stops.exception_names import named


class Inner:
    class WrongError(ValueError):
        pass


class UnplacedError(KeyError):
    __module__ = None


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("json.JSONDecodeError", {json.JSONDecodeError}),
        ("json.decoder.JSONDecodeError", {json.JSONDecodeError}),
        ("JSONDecodeError", {json.JSONDecodeError}),
        ("Inner.WrongError", {Inner.WrongError}),
        ("ValueError", {json.JSONDecodeError, Inner.WrongError}),
        ("decoder.JSONDecodeError", set()),
        ("KeyError", {UnplacedError}),
    ],
)
def test_a_name(name, kinds):
    every = (json.JSONDecodeError, Inner.WrongError, UnplacedError)
    assert {each for each in every if issubclass(each, named(name))} == kinds
