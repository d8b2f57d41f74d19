"""Slices, which gdb has none of: ``p[0:16]`` of a pointer, ``xs[1:3]`` of what has a length, rows of a tensor."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.tensors.address import plain_type, referred
from pyharness.ingdb.variables import data_pointers
from pyharness.ingdb.variables.items import Content, Item, page
from pyharness.ingdb.variables.native import Elements, Printed, shortened
from pyharness.ingdb.variables.runs import Run
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_IN_A_LINE, _IN_MORE = 20, 200
"""Elements that are shown of a slice: in a line of a view, and where a person asked for more."""
_MAX_LENGTH = 1 << 32
_NOT_THERE = "<Cannot access memory"
"""What gdb says in place of a number."""
_SCOPE = re.compile(r"::\s*[A-Za-z_~]")
_OPENING, _CLOSING, _QUOTES = "([{", ")]}", "\"'"
FORMS = "Write a slice as in Python, at the end of the expression: p[0:16]."


@frozen
class Sliced:
    """``base[index, start:stop:step]``, each bound as it was typed; empty where it was left out."""

    base: str
    bounds: tuple[str, ...]
    indices: tuple[str, ...] = ()
    """Indices of the dimensions before the one that is cut: a tensor's."""


def split(expression: str) -> Sliced | None:
    """The slice at the end of an expression of C++; ``None`` for an index, and for every other expression."""
    text = expression.strip()
    opening = bracket(text)
    if opening <= 0:
        return None
    *indices, last = parted(text[opening + 1 : -1], ",")
    bounds = _bounds(last)
    return Sliced(text[:opening].rstrip(), tuple(bounds), tuple(indices)) if len(bounds) in {2, 3} else None


def bracket(text: str, closing: str = "]") -> int:
    """Where the bracket opens that the text's last letter, ``closing``, closes; -1 where it closes none."""
    opened: list[int] = []
    for at, letter in _outside_quotes(text):
        if letter in _OPENING:
            opened.append(at)
        elif letter in _CLOSING and opened:
            opening = opened.pop()
            if at == len(text) - 1 and letter == closing:
                return opening
    return -1


def _outside_quotes(text: str) -> Iterator[tuple[int, str]]:
    quote = ""
    for at, letter in enumerate(text):
        if letter in _QUOTES and quote in {"", letter} and text[at - 1 : at] != "\\":
            quote = "" if quote else letter
        elif not quote:
            yield at, letter


def _bounds(inside: str) -> list[str]:
    """What colons part; nothing of ``x ? y : z``."""
    return [] if any(letter == "?" for _, letter in _outside_brackets(inside)) else parted(inside, ":")


def parted(inside: str, mark: str) -> list[str]:
    """What a mark parts: one in brackets or quotes parts nothing, neither do the colons of ``a::b``."""
    begins, found = 0, []
    for at, letter in _outside_brackets(inside):
        if letter == mark and (mark != ":" or not _is_of_scope(inside, at)):
            found.append(inside[begins:at].strip())
            begins = at + 1
    return [*found, inside[begins:].strip()]


def _is_of_scope(inside: str, at: int) -> bool:
    """Whether a colon is one of the two before a name of C++; those of ``[::2]`` leave out a bound."""
    return any(_SCOPE.match(inside, begin) for begin in (at - 1, at) if begin >= 0)


def _outside_brackets(inside: str) -> Iterator[tuple[int, str]]:
    depth = 0
    for at, letter in _outside_quotes(inside):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if depth == 0:
            yield at, letter


class Part(Content):
    """Some of the elements of a content, by the numbers that they have there."""

    def __init__(self, content: Content, numbers: range) -> None:
        self._content = content
        self._numbers = numbers
        self.indexed = len(numbers)

    def indexed_items(self, start: int, stop: int) -> Iterator[Item]:
        """The elements in their order."""
        numbers = self._numbers[start:stop]
        if numbers.step == 1 and numbers:
            yield from self._run(numbers.start, numbers.stop)
            return
        for number in numbers:
            yield from self._run(number, number + 1)

    def _run(self, start: int, stop: int) -> Iterator[Item]:
        many = self._content.indexed_items if self._content.indexed else self._content.named_items
        yield from many(start, stop)

    def assign(self, name: str, value: str) -> Item:
        """Write an element."""
        return self._content.assign(name, value)


def of_value(text: str, value: gdb.Value, bounds: slice, *, whole: bool) -> Item | None:
    """A slice of a pointer's elements; ``None`` for a value that is no pointer."""
    kind = plain_type(value.type)
    _check_step(text, bounds)
    if kind.code != gdb.TYPE_CODE_PTR:
        return None
    target = plain_type(kind.target())
    if target.code in {gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC} or not target.sizeof or _is_declared_only(target):
        raise HarnessError(
            f"{text} cannot be shown: nothing is known of what it points to ({target}).",
            "Cast it: ((float *) p)[0:16].",
        )
    stop = data_pointers.elements_behind(value) if bounds.stop is None else bounds.stop
    if stop is None:
        raise HarnessError(f"{text}: a pointer does not say how many elements follow.", "Give the end: p[0:16].")
    numbers = range(bounds.start or 0, stop, bounds.step or 1)
    if len(numbers) > _MAX_LENGTH:
        raise HarnessError(f"{text} would have {len(numbers)} elements.", "Ask for fewer.")
    elements = Elements(Run(referred(value), _MAX_LENGTH, plain=True), split_base(text))
    return _item(text, Part(elements, numbers), f"{target} [{len(numbers)}]", whole=whole)


def _check_step(text: str, bounds: slice) -> None:
    if bounds.step is not None and bounds.step <= 0:
        raise HarnessError(f"{text}: the step is {bounds.step}.", "Give one above 0.")


def _is_declared_only(kind: gdb.Type) -> bool:
    return kind.code in {gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION} and not kind.fields() and kind.sizeof <= 1


def split_base(text: str) -> str:
    """What stands before the slice."""
    found = split(text)
    return found.base if found else text


def of_item(text: str, whole_item: Item, bounds: slice, *, whole: bool) -> Item:
    """A slice of a tensor, a container, a list of Python's: it ends where they end, as in Python."""
    _check_step(text, bounds)
    content = whole_item.content
    known = content.indexed if content else 0
    if not known and isinstance(content, Printed) and content.is_sequence:
        known = content.named
    if content is None or (not known and not _is_empty(whole_item)):
        raise HarnessError(f"{text} cannot be shown: {split_base(text)} has no elements.", FORMS)
    numbers = range(*bounds.indices(known))
    return _item(text, Part(content, numbers), whole_item.variable.type, whole=whole)


def _is_empty(item: Item) -> bool:
    return item.variable.value in {"[]", "()"} or item.variable.value.endswith(" [])")


def _item(text: str, part: Part, kind: str, *, whole: bool) -> Item:
    most = _IN_MORE if whole else _IN_A_LINE
    shown = list(_shown(page(part, 0, most)))
    rest = ["…"] if part.indexed > len(shown) else []
    line = f"[{', '.join(shown + rest)}]"
    count = f" ({part.indexed})" if rest else ""
    return Item(Variable(text, f"{line if whole else shortened(line)}{count}", kind, evaluate=text), part)


def _shown(items: list[Item]) -> Iterator[str]:
    """Up to the first that cannot be read: those behind it cannot either."""
    for item in items:
        yield item.variable.value
        if item.variable.note or item.variable.value.startswith(_NOT_THERE):
            return


def bounds_of(sliced: Sliced, number: Callable[[str], int]) -> slice:
    """The bounds as numbers, by who evaluates an expression of the frame's."""
    start, stop, step = islice((*sliced.bounds, ""), 3)
    found = [number(each) if each else None for each in (start, stop, step)]
    return slice(*found)
