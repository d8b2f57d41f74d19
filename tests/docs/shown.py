"""Whether a command printed what its page shows, but for what differs from run to run."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ELLIPSIS = "…"
# In this order: what is left of one is not to be taken for another.
_DIFFERS = (
    (re.compile(r"\x1b\[[0-9;]*[A-Za-z]"), ""),
    (re.compile(r"(?:[\w.@+~…-]*/)+(?=[\w.@+~-])"), ""),  # folders
    (re.compile(r"(?<=frames of ).*"), "OTHERS"),  # whose come first: another Python has them in another order
    (re.compile(r"0x[0-9a-f…]+"), "ADDRESS"),
    (re.compile(r"_[0-9a-f]{16}\b"), "_HASH"),
    (re.compile(r"(?<=[a-z])_\d+\b"), ""),  # mul_1: which of two is the second may be chance
    (re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"), "0"),
    (re.compile(r"\b0 (?:ns|us|ms|s|B|KiB|MiB|GiB)\b"), "0 UNITS"),
    (re.compile(r"(?<![\w.])nan\b"), "0"),
    (re.compile(r"\s+"), " "),
)


def missing(shown: tuple[str, ...], printed: str) -> str:
    """The first line of what is shown that was not printed behind those before it; empty where all were."""
    lines = iter([_steady(line) for line in printed.splitlines()])
    for line in shown:
        wanted = _pattern(line)
        if wanted is not None and not any(wanted.search(each) for each in lines):
            return line
    return ""


def _pattern(line: str) -> re.Pattern[str] | None:
    """``None`` for a line that says nothing: blank, or only that others were left out."""
    text = _steady(line).strip()
    if text.strip(f".{_ELLIPSIS} ") == "":
        return None
    parts = [re.escape(part.strip()) for part in _split(text)]
    return re.compile(".*".join(parts))


def _split(text: str) -> Iterator[str]:
    yield from re.split(rf"{_ELLIPSIS}|\.\.\.", text)


def _steady(line: str) -> str:
    for what, instead in _DIFFERS:
        line = what.sub(instead, line)
    return line
