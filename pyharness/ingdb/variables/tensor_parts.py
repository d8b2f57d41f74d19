"""Parts of a tensor by what stands behind its expression, ``.shape``, ``[0, 1]``: from memory, nothing is called."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.ingdb.variables.items import Item, page
from pyharness.ingdb.variables.slices import bracket, parted
from pyharness.ingdb.variables.tensor import Rows, TensorContent
from pyharness.model.errors import HarnessError, nearest
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


COUNT = "Items are counted from 0, or from the end with -1."
_ATTRIBUTE = re.compile(r"(.*[^\s.])\s*\.\s*([^\W\d]\w*)", re.DOTALL)


@frozen
class PartOf:
    """``base.attribute``, or ``base[index, ...]`` or ``base(index, ...)`` with each index as it was typed."""

    base: str
    attribute: str = ""
    indices: tuple[str, ...] = ()
    is_call: bool = False
    """Whether the indices are in parentheses, as libraries for matrices have them."""


def split(expression: str) -> PartOf | None:
    """What an expression takes at its end, and of what; ``None`` where it ends in neither a name nor an index."""
    text = expression.strip()
    for closing in "])":
        opening = bracket(text, closing)
        if opening > 0 and (closing == "]" or text[opening + 1 : -1].strip()):
            indices = tuple(parted(text[opening + 1 : -1], ","))
            return PartOf(text[:opening].rstrip(), indices=indices, is_call=closing == ")")
    found = _ATTRIBUTE.fullmatch(text)
    return PartOf(found[1], found[2]) if found else None


def part(item: Item, asked: PartOf, text: str, number: Callable[[str], int]) -> Item:
    """The part of a tensor or of its rows, called ``text``; ``number`` evaluates an index."""
    if asked.is_call:
        _check_is_element(item, asked, text)
    found = (
        _attribute(item, asked, text)
        if asked.attribute
        else element(item, map(number, asked.indices), asked.base, text)
    )
    return Item(replace(found.variable, name=text, evaluate=text), found.content)


def _check_is_element(item: Item, asked: PartOf, text: str) -> None:
    """``HarnessError`` for fewer indices than dimensions: each library means something else by that."""
    count = len(item.content.info.sizes) if isinstance(item.content, TensorContent) else 1
    if len(asked.indices) < count:
        message = f"{text} has {len(asked.indices)} of {count} indices."
        raise HarnessError(message, f"Give each, or take a row by {asked.base}[{', '.join(asked.indices)}].")


def has_parts(item: Item) -> bool:
    """Whether it is a tensor, or some of its rows."""
    return isinstance(item.content, (TensorContent, Rows))


def child(item: Item, name: str) -> Item | None:
    """What a tensor has under a name: a fact, its statistics, ``grad``, ``grad_fn``."""
    if not isinstance(item.content, TensorContent):
        return None
    return next((each for each in page(item.content, 0, 0, "named") if each.variable.name == name), None)


def element(item: Item, indices: Sequence[int] | map[int], base: str, text: str) -> Item:
    """The element, or the row, behind the indices of ``base``, which is ``item``; ``text`` is all of the expression."""
    taken: list[str] = []
    for index in indices:
        before = f"{base}[{', '.join(taken)}]" if taken else base
        content = item.content
        if content is None:
            raise one_too_many(text, before, item.variable.value)
        check_has_elements(item, before, text)
        item = page(content, counted(content.indexed, index, before, text), 1, "indexed")[0]
        taken.append(str(index))
    return item


def counted(count: int, index: int, base: str, text: str) -> int:
    """The number from the first of one of the ``count`` elements of ``base``; ``HarnessError`` for none of them."""
    if not -count <= index < count:
        raise HarnessError(f"{text} is out of range: {base} has {count} element{'s' * (count != 1)}.", COUNT)
    return index % count


def one_too_many(text: str, base: str, value: str) -> HarnessError:
    """The error of an index behind what is no tensor, or no row of one any more."""
    return HarnessError(
        f"{text} has one index too many: {base} is {value}.", "Give at most an index for each dimension."
    )


def check_has_elements(item: Item, base: str, text: str) -> None:
    """``HarnessError`` for a tensor without elements that could be counted: it has no dimensions, or lies elsewhere."""
    if not isinstance(item.content, TensorContent):
        return
    info = item.content.info
    if info.unreadable:
        raise HarnessError(f"{text} cannot be read: {info.unreadable}.")
    if not info.sizes:
        raise one_too_many(text, base, "a tensor without dimensions")


def _attribute(item: Item, asked: PartOf, text: str) -> Item:
    found = child(item, asked.attribute)
    if found is None:
        content = item.content
        names = [each.variable.name for each in page(content, 0, 0, "named")] if content and content.named else []
        known = ", ".join(names) or "only its elements"
        message = f"{text} is not read from memory: of {asked.base} are {known}."
        raise HarnessError(message, nearest(asked.attribute, names))
    return found
