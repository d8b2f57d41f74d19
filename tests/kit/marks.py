"""Lines of files by the marks in their comments: ``# @NAME`` in Python and TOML, ``// @NAME`` in C++."""

import re
from pathlib import Path

_MARK = re.compile(r"(?:#|//) @(\S+)")


def marks(file: str | Path) -> dict[str, int]:
    """The line of every mark of a file; of a mark that is there twice, the first."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    found: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if mark := _MARK.search(line):
            found.setdefault(mark[1], number)
    return found


def line_of(mark: str, file: str | Path) -> int:
    """The line with a mark."""
    known = marks(file)
    assert mark in known, f"{file} has no mark @{mark}, only {', '.join(known)}"
    return known[mark]


def place(mark: str, file: str | Path) -> str:
    """The place of a mark in a Python file, as ``--at`` takes it."""
    return f"py:{file}:{line_of(mark, file)}"
