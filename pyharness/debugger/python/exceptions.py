"""Exceptions of Python's: which of them stop the program, and what a stop at one is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.debugger.native.filters import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.dapwire.message import Message
    from pyharness.debugger.python.side import PythonSide

_BREAK_MODES = {"raised": "always", "uncaught": "unhandled", "userUnhandled": "userUnhandled"}
PYTHON = tuple(_BREAK_MODES)
"""The filters that are debugpy's."""


def for_debugpy(wanted: Sequence[tuple[str, str]]) -> Message:
    """debugpy's arguments for the filters of Python's among those wanted."""
    python = [(name, words(condition)) for name, condition in wanted if name in PYTHON]
    if any(patterns for _, patterns in python):
        return {"filters": [], "exceptionOptions": [_option(name, patterns) for name, patterns in python]}
    return {"filters": [name for name, _ in python]}


def _option(name: str, patterns: list[str]) -> Message:
    """One filter in the older form: its type is a word that debugpy evaluates to a class, in the program."""
    path = [{"names": ["Python Exceptions"]}]
    if patterns:
        named = "__import__('pyharness.debuggee.pydevd.stops.exception_names', fromlist=['named']).named"
        path.append({"names": [f"{named}({', '.join(map(repr, patterns))})"]})
    return {"path": path, "breakMode": _BREAK_MODES[name]}


def exception_of(python: PythonSide, thread: int) -> Message:
    """debugpy's answer without what the protocol does not know, and without remarks in the type's name."""
    body = python.request_of(thread, "exceptionInfo")
    details = {key: value for key, value in body.get("details", {}).items() if key != "source"}
    type_name = re.split(r"\s+\(note:", body["exceptionId"])[0]
    return {**body, "exceptionId": type_name, "details": {**details, "typeName": type_name}}
