"""Colours for the lines of a source that a stop shows, by the words of its language."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from pygments.lexers.c_cpp import CppLexer
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Number, Operator, String

from pyharness.model.text.styled_line import Line, Style, in_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pygments.lexer import Lexer

    from pyharness.model.frames import Language

_BAR = " │ "
_STYLES: tuple[tuple[object, Style], ...] = (
    (Comment, "dim"),
    (String, "string"),
    (Number, "number"),
    (Keyword, "keyword"),
    (Operator.Word, "keyword"),
)


def highlighted(lines: Iterable[Line], language: Language) -> Iterator[Line]:
    """Lines with those of a source, which have a bar before their text, in colours.

    Only what is shown is read: a file may be long. Text that begins within a string of several lines passes for code.
    """
    for of_source, some in groupby(lines, lambda line: _BAR in line.text and not line.parts):
        group = list(some)
        yield from _coloured(group, language) if of_source else group


def _coloured(lines: list[Line], language: Language) -> Iterator[Line]:
    lexer: Lexer = PythonLexer(stripnl=False) if language == "python" else CppLexer(stripnl=False)
    texts = [line.text.partition(_BAR)[2] for line in lines]
    rows: list[list[tuple[str, Style]]] = [[]]
    for token, text in lexer.get_tokens("\n".join(texts)):
        first, *more = text.split("\n")
        rows[-1].append((first, _style(token)))
        rows.extend([(part, _style(token))] for part in more)
    for line, row in zip(lines, rows, strict=False):
        head = line.text.partition(_BAR)[0] + _BAR
        plain: Style = line.style if line.style == "current" else ""
        yield in_parts((head, line.style), *((text, style or plain) for text, style in row if text))


def _style(token: object) -> Style:
    return next((style for known, style in _STYLES if token in known), "")  # type: ignore[operator]
