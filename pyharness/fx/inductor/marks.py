"""Marks in generated text: each line carries a number until the text is whole, and says then which line it became.

Lines are spliced, indented, put under conditions and rewritten by regular expressions before they are a file. A mark at
the end of a line goes through all of that with it. Neither C++ nor torch's rewriting knows its two characters.
"""

from __future__ import annotations

import re

_MARK = re.compile("\x01(\\d+)\x02")


def marked(line: str, number: int) -> str:
    """``line`` with ``number`` at the end of each of its lines; one that has a mark keeps that."""
    if "\x01" in line or not line.strip():
        return line
    mark = f"\x01{number}\x02"
    return line.replace("\n", f"{mark}\n") + mark


def clean(text: str) -> str:
    """``text`` as it would be if nothing had been marked."""
    return _MARK.sub("", text) if "\x01" in text else text


def read(text: str) -> dict[int, int]:
    """The number of each line that has one, by its 0-based position."""
    found = ((position, _MARK.search(line)) for position, line in enumerate(text.split("\n")))
    return {position: int(mark[1]) for position, mark in found if mark}
