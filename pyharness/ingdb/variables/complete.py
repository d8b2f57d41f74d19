"""Completions of a Python expression, from memory: what a frame has, and what the objects that it names hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.ingdb.variables.expression import evaluate
from pyharness.ingdb.variables.frame import frame_globals, frame_locals
from pyharness.ingdb.variables.items import MAX_PAGE, page
from pyharness.ingdb.variables.tensor import TensorContent
from pyharness.model.errors import HarnessError
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.python.frames import PythonFrame
    from pyharness.reading.python.threads import Python

_ATTRIBUTE = re.compile(r"(?P<object>[A-Za-z_](?:\w|\.|\[[^\[\]]*\])*)\.(?P<start>\w*)$")
_NAME = re.compile(r"(?<![\w.])(?P<start>[A-Za-z_]\w*|)$")


def completions(text: str, frame: PythonFrame, python: Python, thread: int) -> tuple[str, list[tuple[str, str]]]:
    """What is already there of the name at the end of ``text``, and the names that it may become, with their kinds."""
    attribute, name = _ATTRIBUTE.search(text), _NAME.search(text)
    try:
        if attribute:
            return attribute["start"], list(_attributes(attribute["object"], frame, python, thread))
        return (name["start"], list(_variables(frame, python))) if name else ("", [])
    except UnreadableError:
        return "", []


def _variables(frame: PythonFrame, python: Python) -> Iterator[tuple[str, str]]:
    for found in (frame_locals(python, frame), frame_globals(python, frame)):
        yield from ((name, "variable") for name, _ in found)


def _attributes(expression: str, frame: PythonFrame, python: Python, thread: int) -> Iterator[tuple[str, str]]:
    try:
        content = evaluate(expression, frame, python, thread).content
    except HarnessError:  # a name that is not there, or a call: nothing goes on from it
        return
    for item in page(content, 0, MAX_PAGE, "named") if content else ():
        real = item.variable.evaluate or isinstance(content, TensorContent)  # and no heading of the view's
        if real and item.variable.name.isidentifier():
            yield item.variable.name, "field"
