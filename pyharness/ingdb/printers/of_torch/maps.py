"""How torch's own maps are shown, key by key: ``OrderedDict``, and ``ska::flat_hash_map`` in the order of its slots."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb
import gdb.printing

from pyharness.ingdb.printers.registry import MAX_LENGTH, base
from pyharness.ingdb.tensors.address import referred, type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Pairs = Callable[[gdb.Value], Iterator[gdb.Value]]

_TABLE = "ska::detailv3::sherwood_v3_table<"


def _ordered(value: gdb.Value) -> Iterator[gdb.Value]:
    """The pairs of an ``OrderedDict``."""
    items = value["items_"]["_M_impl"]
    first = items["_M_start"]
    for number in range(_length(int(items["_M_finish"] - first))):
        yield (first + number).dereference()["pair_"]


def _hashed(value: gdb.Value) -> Iterator[gdb.Value]:
    """The pairs of a ``flat_hash_map``: in slots, and as many behind them as one may be away from its own."""
    table = base(value, _TABLE)
    left = _length(int(table["num_elements"]))
    slots = int(table["num_slots_minus_one"]) + int(table["max_lookups"])
    for number in range(_length(slots)):
        entry = (table["entries"] + number).dereference()
        if not left:
            return
        if int(entry["distance_from_desired"]) >= 0:
            left -= 1
            yield entry["value"]


def _length(count: int) -> int:
    if not 0 <= count < MAX_LENGTH:
        raise gdb.error(f"a length of {count}")
    return count


_KINDS: tuple[tuple[re.Pattern[str], Pairs], ...] = (
    (re.compile(r"(torch::OrderedDict)<.*>"), _ordered),
    (re.compile(r"(ska::flat_hash_map)<.*>"), _hashed),
)


class _Map:
    """What gdb asks for a value: a title, and what is in it."""

    def __init__(self, value: gdb.Value, name: str, pairs: Pairs) -> None:
        self._name = name
        self._problem, self._pairs = "", []
        try:
            self._pairs = list(pairs(value))
        except gdb.error as error:
            self._problem = str(error)

    def display_hint(self) -> str:
        """gdb's word for what has keys."""
        return "map"

    def to_string(self) -> str:
        """The title."""
        count = len(self._pairs)
        return (
            f"<corrupt: {self._problem}>" if self._problem else f"{self._name} with {count} element{'s' * (count != 1)}"
        )

    def children(self) -> Iterator[tuple[str, gdb.Value]]:
        """Keys and values by turns."""
        for number, pair in enumerate(self._pairs):
            yield f"[{2 * number}]", pair["first"]
            yield f"[{2 * number + 1}]", pair["second"]


class _Printers:
    """What gdb keeps in its list of printers."""

    name = "pyharness-maps"
    enabled = True
    subprinters = None

    def __call__(self, value: gdb.Value) -> _Map | None:
        name = type_name(value.type)
        for pattern, pairs in _KINDS:
            if found := pattern.fullmatch(name):
                return _Map(referred(value), found[1], pairs)
        return None


def register() -> None:
    """Have gdb ask for every value it prints."""
    gdb.printing.register_pretty_printer(None, _Printers(), replace=True)
