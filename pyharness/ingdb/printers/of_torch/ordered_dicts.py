"""How ``torch::OrderedDict`` is shown, as of a module's named parameters: as a map, in its order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb
import gdb.printing

from pyharness.ingdb.printers.registry import MAX_LENGTH
from pyharness.ingdb.tensors.address import referred, type_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_DICT = re.compile(r"torch::OrderedDict<.*>")


class _Dict:
    """What gdb asks for a value: a title, and what is in it."""

    def __init__(self, value: gdb.Value) -> None:
        items = value["items_"]["_M_impl"]
        self._first = items["_M_start"]
        self._length = int(items["_M_finish"] - self._first)

    def display_hint(self) -> str:
        """gdb's word for what has keys."""
        return "map"

    def to_string(self) -> str:
        """The title."""
        if not 0 <= self._length < MAX_LENGTH:
            return f"<corrupt: a length of {self._length}>"
        return f"torch::OrderedDict with {self._length} element{'s' * (self._length != 1)}"

    def children(self) -> Iterator[tuple[str, gdb.Value]]:
        """Keys and values by turns."""
        for number in range(self._length if 0 <= self._length < MAX_LENGTH else 0):
            pair = (self._first + number).dereference()["pair_"]
            yield f"[{2 * number}]", pair["first"]
            yield f"[{2 * number + 1}]", pair["second"]


class _Printers:
    """What gdb keeps in its list of printers."""

    name = "pyharness-ordered-dict"
    enabled = True
    subprinters = None

    def __call__(self, value: gdb.Value) -> _Dict | None:
        return _Dict(referred(value)) if _DICT.fullmatch(type_name(value.type)) else None


def register() -> None:
    """Have gdb ask for every value it prints."""
    gdb.printing.register_pretty_printer(None, _Printers(), replace=True)
