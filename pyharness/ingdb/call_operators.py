"""Calls of objects, ``matrix(1, 2)``, spelled as calls of ``operator()``: gdb 13 has none, gdb 16 crashes on some."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import parts_of_pieces
from pyharness.ingdb.settings import temporarily
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.members import CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUOTES = "\"'"
_LINKS = (".", "->", "::")
_OPERATOR = ".operator()"


def parsed(expression: str) -> gdb.Value:
    """gdb's value of an expression; ``gdb.error`` where it has none."""
    return gdb.parse_and_eval(fit_for_gdb(expression))


def fit_for_gdb(expression: str) -> str:
    """``expression`` as gdb can compute it; ``gdb.error`` where it would crash."""
    return spelled_out(parts_of_pieces.read(expression))


def spelled_out(expression: str) -> str:
    """``expression`` with ``.operator()`` behind each object that it calls; as it is where it calls none."""
    for at in reversed(list(_opened(expression))):
        callee = expression[_begin(expression, at) : at].rstrip()
        if callee and _is_object(callee):
            end = len(expression[:at].rstrip())
            expression = f"{expression[:end]}{_OPERATOR}{expression[at:]}"
    return expression


def _opened(text: str) -> Iterator[int]:
    """Where parentheses open outside of quotes."""
    quote = ""
    for at, letter in enumerate(text):
        if letter in _QUOTES and quote in {"", letter} and text[at - 1 : at] != "\\":
            quote = "" if quote else letter
        elif letter == "(" and not quote:
            yield at


def _begin(text: str, end: int) -> int:
    """Where the name, the member or the element begins that stands before ``end``; ``end`` where there is none."""
    begin = end
    while True:
        before = text[:begin].rstrip()
        if before.endswith((")", "]")):
            begin = opening(before)
            if begin < 0:
                return end
            if not _is_name(before[:begin].rstrip()[-1:]):
                return begin
            continue
        name = before.rstrip("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        if name == before:
            return begin
        begin = len(name)
        link = next((each for each in _LINKS if name.rstrip().endswith(each)), None)
        if link is None:
            return begin
        begin = len(name.rstrip()) - len(link)


def _is_name(letter: str) -> bool:
    return letter.isalnum() or letter in {"_", ")", "]"}


def opening(text: str) -> int:
    """Where the bracket opens that the last letter closes; -1 where none does."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] in ")]") - (text[at] in "([")
        if not depth:
            return at
    return -1


def _is_object(callee: str) -> bool:
    try:
        with temporarily("may-call-functions", "off"):
            return plain_type(parsed(callee).type).code in CLASSES
    except (gdb.error, RuntimeError):
        return False
