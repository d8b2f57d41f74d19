"""What can be said of a gdb expression without gdb and its symbols: it ends somewhere, and nothing is missing in it."""

from __future__ import annotations

import re

from pyharness.model.errors import UsageError

_TEXT = re.compile(r"""\"(?:\\.|[^"\\])*\"|'(?:\\.|[^'\\])*'""")
_CLOSES = {")": "(", "]": "[", "}": "{"}
_ENDS = re.compile(r"(==|!=|<=|>=|&&|\|\||->|[<=!~^|/%,.]|(?<!\+)\+|(?<!-)-)$")
_BEGINS = re.compile(r"(==|!=|<=|>=|\|\||->|[<>=^|/%,)\]}])")
_REMEDY = "It is a gdb expression, as in n > 2 && flag."


def check_native(condition: str) -> None:
    """Raise ``UsageError`` for what gdb could make no sense of, whatever its names mean."""
    if problem := _problem(condition):
        raise UsageError(f"The condition {condition!r} does not parse: {problem}.", _REMEDY)


def _problem(condition: str) -> str:
    rest = _TEXT.sub("0", condition).strip()
    if not rest:
        return ""
    if '"' in rest or "'" in rest:
        return "a quote is not closed"
    if wrong := _unbalanced(rest):
        return wrong
    if found := _ENDS.search(rest) or (re.search("(>)$", rest) if "<" not in rest else None):
        return f"nothing comes behind {found[1]!r}"
    if found := _BEGINS.match(rest):
        return f"nothing comes before {found[1]!r}"
    return ""


def _unbalanced(text: str) -> str:
    open_ones: list[str] = []
    for char in text:
        if char in "([{":
            open_ones.append(char)
        elif char in _CLOSES and (not open_ones or open_ones.pop() != _CLOSES[char]):
            return f"{char!r} closes nothing"
    return f"{open_ones[-1]!r} is not closed" if open_ones else ""
