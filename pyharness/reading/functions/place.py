"""A function of which some code is at an address, with its line."""

from __future__ import annotations

from typing import NamedTuple


class CodePlace(NamedTuple):
    """A function of which some code is at an address."""

    function: str
    """Empty where the debug information does not name it."""
    file: str | None
    line: int | None
