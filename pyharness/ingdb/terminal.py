"""The one place that writes to gdb's terminal: what is not ours is made visible, so that no terminal obeys it."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import gdb

from pyharness.model.text.styled_line import Line, painted
from pyharness.model.text.visible import visible_json

if TYPE_CHECKING:
    from collections.abc import Iterable


def write(text: str) -> None:
    """A line, or several."""
    write_lines(map(Line, text.split("\n")))


def complain(text: str) -> None:
    """A line, or several, where gdb writes its own errors."""
    for line in text.split("\n"):
        gdb.write(f"{painted(Line(line), colour=False)}\n", gdb.STDERR)


def write_json(data: Any) -> None:
    """One JSON object on a line."""
    gdb.write(f"{visible_json(json.dumps(data))}\n")


def write_lines(lines: Iterable[Line]) -> None:
    """Lines, coloured by their style where gdb colours its own."""
    colour = is_terminal() and bool(gdb.parameter("style enabled"))
    for line in lines:
        gdb.write(f"{painted(line, colour=colour)}\n")


def is_terminal() -> bool:
    """Whether a person sees it."""
    return sys.__stdout__ is not None and os.isatty(1)
