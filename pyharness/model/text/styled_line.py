"""A line of text for people and what it is; whoever prints it knows the colours."""

from __future__ import annotations

from typing import Literal

from pyharness.model.frozen import frozen
from pyharness.model.text.visible import in_one_line, visible

Style = Literal[
    "",
    "heading",
    "place",
    "current",
    "faint",
    "good",
    "warn",
    "bad",
    "title",
    "python",
    "native",
    "fx",
    "dim",
    "keyword",
    "string",
    "number",
]
_SGR: dict[Style, str] = {
    "heading": "1;36",
    "place": "35",
    "current": "1",
    "faint": "2",
    "good": "32",
    "warn": "33",
    "bad": "31",
    "title": "1",
    "python": "34",
    "native": "36",
    "fx": "33",
    "dim": "2",
    "keyword": "34",
    "string": "32",
    "number": "36",
}


@frozen
class Line:
    """One line and what it is."""

    text: str
    style: Style = ""
    parts: tuple[tuple[str, Style], ...] = ()
    """Where several styles are in it: ``text`` in pieces."""

    def behind(self, prefix: str) -> Line:
        """The line with ``prefix`` before it."""
        style: Style = ""
        return Line(prefix + self.text, self.style, ((prefix, style), *self.parts) if self.parts else ())


def in_parts(*parts: tuple[str, Style]) -> Line:
    """A line of several styles."""
    return Line("".join(text for text, _style in parts), "", parts)


def painted(line: Line, *, colour: bool) -> str:
    """What a terminal gets: nothing in it is obeyed but our own colours, and a name with a newline ends no line."""
    if not colour:
        return _in_line(line.text)
    return "".join(_painted(_in_line(text), style) for text, style in line.parts or ((line.text, line.style),))


def _in_line(text: str) -> str:
    return visible(in_one_line(text))


def _painted(text: str, style: Style) -> str:
    return f"\x1b[{_SGR[style]}m{text}\x1b[0m" if style and text else text
