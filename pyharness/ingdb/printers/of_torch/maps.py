"""How torch's own maps are shown, key by key: ``OrderedDict``, and ``ska::flat_hash_map`` in the order of its slots."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import gdb
import gdb.printing

from pyharness.ingdb.tensors.address import referred, type_name
from pyharness.ingdb.tensors.members import base

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLE = "ska::detailv3::sherwood_v3_table<"
_MOST = 1 << 20
"""A map of more elements was never made: its memory is not, or not yet, a map's."""
_MOST_SLOTS = 1 << 22


class _Map(ABC):
    """What gdb asks for a value: a title, and what is in it, which is read as far as gdb asks."""

    name: ClassVar[str]

    def __init__(self, value: gdb.Value) -> None:
        self.value = value

    @abstractmethod
    def count(self) -> int:
        """The number of elements, as memory has it; -1 where that cannot be one."""

    @abstractmethod
    def pairs(self) -> Iterator[gdb.Value]:
        """Keys with their values."""

    def display_hint(self) -> str:
        """gdb's word for what has keys."""
        return "map"

    def to_string(self) -> str:
        """The title."""
        count = self.count()
        if not 0 <= count <= _MOST:
            return f"<corrupt: a length of {count}>"
        return f"{self.name} with {count} element{'s' * (count != 1)}"

    def children(self) -> Iterator[tuple[str, gdb.Value]]:
        """Keys and values by turns."""
        for number, pair in enumerate(self.pairs() if 0 <= self.count() <= _MOST else ()):
            yield f"[{2 * number}]", pair["first"]
            yield f"[{2 * number + 1}]", pair["second"]


class _OrderedDict(_Map):
    name = "torch::OrderedDict"

    def count(self) -> int:
        items = self.value["items_"]["_M_impl"]
        return int(items["_M_finish"] - items["_M_start"])

    def pairs(self) -> Iterator[gdb.Value]:
        first = self.value["items_"]["_M_impl"]["_M_start"]
        return ((first + number).dereference()["pair_"] for number in range(self.count()))


class _FlatHashMap(_Map):
    name = "ska::flat_hash_map"

    def __init__(self, value: gdb.Value) -> None:
        super().__init__(base(value, _TABLE))

    def count(self) -> int:
        count = int(self.value["num_elements"])
        return count if count <= self._slots() else -1

    def _slots(self) -> int:
        """Slots that elements are meant for, and as many behind them as one may be away from its own."""
        return int(self.value["num_slots_minus_one"]) + int(self.value["max_lookups"])

    def pairs(self) -> Iterator[gdb.Value]:
        entries = ((self.value["entries"] + number).dereference() for number in range(min(self._slots(), _MOST_SLOTS)))
        return (entry["value"] for entry in entries if int(entry["distance_from_desired"]) >= 0)


_KINDS: tuple[tuple[re.Pattern[str], type[_Map]], ...] = (
    (re.compile(r"torch::OrderedDict<.*>"), _OrderedDict),
    (re.compile(r"ska::flat_hash_map<.*>"), _FlatHashMap),
)


class _Printers:
    """What gdb keeps in its list of printers."""

    name = "pyharness-maps"
    enabled = True
    subprinters = None

    def __call__(self, value: gdb.Value) -> _Map | None:
        name = type_name(value.type)
        kind = next((kind for pattern, kind in _KINDS if pattern.fullmatch(name)), None)
        return kind(referred(value)) if kind else None


def register() -> None:
    """Have gdb ask for every value it prints."""
    gdb.printing.register_pretty_printer(None, _Printers(), replace=True)
