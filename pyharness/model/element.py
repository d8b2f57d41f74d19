"""An element of a node's tensor, as a person writes it: ``gelu[2, 7]``."""

from __future__ import annotations

import re

from pyharness.model.errors import UsageError
from pyharness.model.frozen import frozen

_WRITTEN = re.compile(r"(\w*)\s*\[\s*((?:-?\d{1,18}\s*(?:,\s*|(?=\])))*)\]")


@frozen
class Element:
    """One number of a tensor that a kernel computes."""

    node: str
    """Empty for the node of the line that is stood at."""
    index: tuple[int, ...]
    """In each dimension, from 0, or from the end with -1."""

    def __str__(self) -> str:
        return f"{self.node}[{', '.join(map(str, self.index))}]"


def read(text: str) -> Element | None:
    """What ``text`` names; ``None`` where that is no element."""
    found = _WRITTEN.fullmatch(text.strip())
    return Element(found[1], tuple(int(index) for index in found[2].split(",") if index.strip())) if found else None


def parse(text: str) -> Element:
    """What ``text`` names; ``UsageError`` where that is no element."""
    found = read(text)
    if found is None:
        raise UsageError(f"{text!r} is no element.", "Write NODE[INDEX, ...], for example: gelu[2, 7]")
    return found
