"""What a person asks of gdb in its own language; where that calls functions of the program, they are called guarded."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import gdb

from pyharness.ingdb import call_operators
from pyharness.ingdb.calls import guarded_call, kept_gil
from pyharness.ingdb.printers.of_std import methods
from pyharness.ingdb.process import libraries
from pyharness.ingdb.settings import temporarily

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = TypeVar("Answer")
_NAME = re.compile(r"(?<![$\w])[^\W\d]\w*")
_MAY_CALL = "may-call-functions"
_NO_MEMBER = "There is no member"
_CHANGES = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=")
"""What must not be evaluated twice."""


def evaluate(expression: str) -> gdb.Value:
    """gdb's value of an expression in the selected frame; ``gdb.error`` where it has none."""
    return called(expression, gdb.parse_and_eval)


def said(error: gdb.error, expression: str) -> str:
    """gdb's words of an expression in one line: it wraps some of them, and a second line of ours is a remedy.

    Where nothing that is loaded has symbols, gdb would have the person give it a file, and does not tell the name.
    """
    words = " ".join(map(str.strip, str(error).splitlines()))
    name = _NAME.search(expression) if words.startswith("No symbol table is loaded") else None
    return f'No symbol "{name[0]}" in current context.' if name else words


def called(expression: str, ask: Callable[[str], Answer]) -> Answer:
    """What ``ask`` answers to ``expression``; the guard is told of a call only where there is one: that takes calls."""
    expression = call_operators.fit_for_gdb(expression)
    try:
        return _called(expression, ask)
    except gdb.error as error:
        if _NO_MEMBER in str(error) and "->" in expression and not _CHANGES.search(expression):
            with suppress(gdb.error):
                return _as_what_it_is(expression, ask)
        if text := methods.reason(error):
            raise gdb.error(text) from error
        raise


def _as_what_it_is(expression: str, ask: Callable[[str], Answer]) -> Answer:
    """The answer where a pointer to a class gives the members of what it really points to, as its children are."""
    with temporarily("print object", "on"), temporarily(_MAY_CALL, "off"):
        return ask(expression)


def _called(expression: str, ask: Callable[[str], Answer]) -> Answer:
    if not libraries.is_traced(gdb.selected_inferior().pid):
        return ask(expression)  # nothing runs in a core file
    if not _CHANGES.search(expression):
        try:
            with temporarily(_MAY_CALL, "off"):
                return ask(expression)
        except gdb.error as error:
            if _MAY_CALL not in str(error):
                raise
    with kept_gil.kept(), guarded_call.expression():
        return ask(expression)
