"""Statements of Python's at the prompt: which of them go on in another line."""

from __future__ import annotations

import codeop
from contextlib import suppress

_PREFIXES = ("py ", "!")


def is_begun(text: str) -> bool:
    """Whether a line has a statement that is not whole; an empty line ends one that is indented."""
    prefix = next((each for each in _PREFIXES if text.startswith(each)), None)
    if prefix is None or text.rstrip(" ").endswith("\n"):
        return False
    with suppress(SyntaxError, ValueError, OverflowError):
        return codeop.compile_command(text.removeprefix(prefix).lstrip(), symbol="single") is None
    return False
