"""Makes visible what a terminal would obey: the text of a program or a file may be anything."""

from __future__ import annotations

import re
import sys
from contextlib import suppress

_OBEYED = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
"""Control characters but newline and tab, what turns the direction of text, line separators, lone surrogates."""


def visible(text: str) -> str:
    """``text`` with each character that a terminal obeys, or cannot show, as Python's ``repr`` writes it."""
    return re.sub(_OBEYED, lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def visible_json(text: str) -> str:
    """JSON with each character that a terminal obeys written as JSON writes it."""
    return re.sub(_OBEYED, lambda match: f"\\u{ord(match[0]):04x}", text)


def in_one_line(text: str) -> str:
    """A name for a cell of a table or the head of a line: programs may name a class or an attribute with newlines."""
    return text.replace("\n", "\\n")


def say(text: str) -> None:
    """A note of ours on the stderr of a program, beside its own output; nothing where that cannot be written."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"pyharness: {visible(text)}\n", end="", file=sys.stderr, flush=True)  # in one piece
