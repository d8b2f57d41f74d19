"""Pieces of Markdown: table cells, paragraphs of help and docstrings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SECTION = re.compile(r"(Args|Returns|Raises|Yields):")
_ENTRY = re.compile(r"(\*{0,2}\w+): (.*)")


def cell(text: str) -> str:
    """``text`` for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """``text`` as code, in a cell of a table too."""
    return f"`{text}`".replace("|", "\\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table of cells that are Markdown already; no lines where there are no rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if lines:
        yield from (f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines, "")


def fenced(lines: Iterable[str], language: str = "") -> Iterator[str]:
    """A block of code."""
    yield from (f"```{language}", *lines, "```", "")


def prose(text: str) -> Iterator[str]:
    """Paragraphs of a docstring or a help text: double backticks become single ones, indented blocks code.

    Sections such as ``Args:`` become lists.
    """
    for paragraph in re.split(r"\n\s*\n", text.replace("``", "`")):
        lines = paragraph.splitlines()
        if _SECTION.fullmatch(lines[0].strip()):
            yield from _section(lines)
        elif all(line.startswith("    ") for line in lines) or lines[0].strip() == "\b":
            yield from fenced(line for line in lines if line.strip() != "\b")
        else:
            yield from (*(_plain(line) for line in lines), "")


def _plain(line: str) -> str:
    """Angle brackets are no HTML here."""
    return re.sub(r"(`[^`]*`)|<", lambda match: match[1] or "&lt;", line.strip())


def _section(lines: Sequence[str]) -> Iterator[str]:
    """``Args:`` and its entries, each with what is indented below it."""
    yield from (f"*{lines[0].strip()}*", "")
    entries: list[str] = []
    for line in lines[1:]:
        match = _ENTRY.fullmatch(line.strip())
        if match and len(line) - len(line.lstrip()) == 4:
            entries.append(f"- `{match[1]}`: {match[2]}")
        elif entries:
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(f"- {line.strip()}")
    yield from (*entries, "")


def indented(lines: Iterable[str], by: str = "  ") -> Iterator[str]:
    """``lines`` as a part of the list item before them."""
    return (by + line if line else line for line in lines)
