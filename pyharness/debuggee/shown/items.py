"""What a shown Python object consists of: lines of text, groups that are made when they are opened, and objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyharness.model.variable import Variable


class Child(NamedTuple):
    """One child: its name, what it is, and what follows its parent's expression to give it (``None``: nothing does)."""

    name: str
    value: Any
    suffix: str | None = None


# pydevd shows a class's name as the type of a variable: these have none. And it leaves a str unexpanded.
Line = type("", (str,), {"__doc__": "Text that is shown without quotes."})


class _Group:
    """A child with children of its own, listed when they are asked for."""

    def __init__(self, text: str, children: Callable[[], Iterable[Child]]) -> None:
        self.text = text
        self.children = children


Group = type("", (_Group,), {"__doc__": _Group.__doc__})


def line_of(variable: Variable) -> Child:
    """A variable that is one line, with the reason where it has one."""
    note = f" ({variable.note})" if variable.note and variable.note not in variable.value else ""
    return Child(variable.name, Line(f"{variable.value}{note}"))
