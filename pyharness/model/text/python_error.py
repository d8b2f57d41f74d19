"""An exception of an expression's, as Python and debugpy print it: behind what the expression printed."""

from __future__ import annotations

import re

_HEAD = re.compile(r"^(?:  \+ Exception Group )?Traceback \(most recent call last\):\n", re.MULTILINE)
"""What a traceback begins with, and that of a group; those of a group's exceptions are indented."""
_OF_GROUP = re.compile(r"^  \| (\S.*)$", re.MULTILINE)
_END_OF_GROUP = re.compile(r"\+-+")


def prints_and_error(said: str) -> tuple[str, str] | None:
    """What was printed before, and the exception's last line; ``None`` where there is no traceback.

    Of a chain it is the last exception, which the expression has raised.
    """
    heads = list(_HEAD.finditer(said))
    if not heads:
        return None
    behind = said[heads[-1].end() :].rstrip()
    last = (behind.splitlines() or [""])[-1].strip()
    group = _OF_GROUP.search(behind) if _END_OF_GROUP.fullmatch(last) else None
    return said[: heads[0].start()], group[1] if group else last
