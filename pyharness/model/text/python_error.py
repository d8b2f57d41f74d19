"""An exception of an expression's, as Python and debugpy print it: behind what the expression printed."""

from __future__ import annotations

import re

_HEAD = re.compile(r"^(?:  \+ Exception Group )?Traceback \(most recent call last\):\n", re.MULTILINE)
"""What a traceback begins with, and that of a group; those of a group's exceptions are indented."""
_CHAINED = re.compile(
    r"^(?:During handling of the above exception, another exception occurred"
    r"|The above exception was the direct cause of the following exception):\n",
    re.MULTILINE,
)
_ERROR = re.compile(r"^(?:  \| )?(\S.*)$", re.MULTILINE)
"""The first line of an exception, behind its frames, which are indented; its message may have more."""


def prints_and_error(said: str) -> tuple[str, str] | None:
    """What was printed before, and the exception's type and message in a line; ``None`` where there is no traceback.

    Of a chain it is the last exception, which the expression has raised.
    """
    head = _HEAD.search(said)
    if head is None:
        return None
    last = _CHAINED.split(said[head.start() :])[-1]
    error = _ERROR.search(_HEAD.sub("", last, count=1))
    return said[: head.start()], error[1].strip() if error else ""
