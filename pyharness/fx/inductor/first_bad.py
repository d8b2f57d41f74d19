"""Where in a kernel a value first became bad: a copy of the kernel runs once more, and writes its variables down.

What a line has made is what its variable has and what it is computed from has not: a constant that the program names,
such as the -inf of a mask, is no news. Lines stand in the order in which values come about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pyharness.fx.inductor.compiling import compiled_copy
from pyharness.fx.inductor.written_down import MOST, element_of, is_counted, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import torch

    from pyharness.fx.inductor.written_down import Rows
    from pyharness.model.kernel_map import KernelLine

    Kinds = Callable[[torch.Tensor], int]

_ASSIGNED = re.compile(r"\s*(?P<declared>(?:const )?(?:auto|float|double|at::\S+) )?(?P<name>tmp\w+) = (?P<value>.*)")
_VARIABLE = re.compile(r"\btmp\w+")
_ALIAS = re.compile(r"^ *auto (out_ptr\d+) = (in_out_ptr\d+);", re.MULTILINE)
"""Both names are of one buffer: the kernel reads and writes it by either."""
_TRANSPOSED = re.compile(r"\s*transpose_mxn<")
_NAMED = {"nan": re.compile(r"::(?:quiet|signaling)_NaN\(\)"), "inf": re.compile(r"::infinity\(\)")}


def _line_of(store: tuple[KernelLine, re.Match[str] | None]) -> int:
    return store[0].line


@dataclass(frozen=True)
class FirstBad:
    """The first line whose value is bad by itself."""

    line: int
    node: str
    maker: str
    """The node that the line computes a part of: for ``getitem`` of several values, what has them."""
    kinds: int
    """What it made, as bits."""
    element: tuple[int, ...] | None
    """Index in the node's value; ``None`` where a line's numbers are not known one by one."""
    given: Mapping[str, float]
    """What it was computed from there, by node."""


@dataclass
class Look:
    """What is looked for in one call of a kernel."""

    source: str
    lines: Sequence[KernelLine]
    read: Mapping[str, torch.Tensor]
    """By the kernel's pointers: what it read, as that was before."""
    written: Mapping[str, torch.Tensor]
    """By the kernel's pointers: what it has written."""
    kinds_of: Kinds
    """Which kinds of bad values a tensor has, as bits."""
    bits: Mapping[str, int]
    """The bit of ``nan`` and of ``inf``."""
    wanted: int
    """The kinds that the kernel made."""
    _rows: dict[int, list[Rows]] = field(default_factory=dict)

    def run(self, args: Sequence[Any]) -> None:
        """Run the copy with ``args``, which it computes in as the kernel did."""
        copy = compiled_copy(self.source, self.lines)
        with TemporaryDirectory() as folder:
            file = Path(folder) / "variables"
            copy(file, *args)
            for rows in read(file, self.lines):
                self._rows.setdefault(rows.line, []).append(rows)

    def first(self) -> FirstBad | None:
        """The first line that made a bad value; ``None`` where each was given to it, or named by the program."""
        by_line = {row.line: row for row in self.lines}
        known: dict[str, int] = {}
        placed = self._named_in(self.source)
        kept = self._kept_nodes()
        behind: dict[str, list[int]] = {}
        """By variable: the lines that have the numbers that it was computed from."""
        unreached: set[str] = set()
        """Variables of a block that did not run: where sizes are known at the call, a vector's may have too few."""
        for number, text in enumerate(self.source.split("\n"), 1):
            row = by_line.get(number)
            stored, assigned = self._stored.match(text), _ASSIGNED.match(text)
            given, names = self._given(text, known, kept, assigned, stored)
            if assigned and row is not None:
                self._note_reach(row, unreached)
            if row is not None and stored and not unreached.intersection(names):
                pointer = self._buffer(stored["pointer"])
                is_kept = kept[pointer] == row.node
                has = self.kinds_of(self.written[pointer]) if is_kept else self._loaded_behind(number, pointer)
                # What is in the buffer at the end may be of another line that puts a constant there.
                if made := has & ~(given | placed) & self.wanted:
                    return FirstBad(number, row.node, row.node, made, None, {})
            elif row is not None and not stored and number in self._rows:
                has = self._kinds_at(number)
                if row.holds and (made := has & ~given & self.wanted):
                    return self._told(row, made, [line for name in names for line in behind.get(name, ())], by_line)
                given = has
            if assigned:
                before = 0 if assigned["declared"] else known.get(assigned["name"], 0)
                known[assigned["name"]] = before | given
                own = [number] if number in self._rows else [line for name in names for line in behind.get(name, ())]
                behind[assigned["name"]] = own
            elif _TRANSPOSED.match(text):
                known.update(dict.fromkeys(_VARIABLE.findall(text), given))
        return None

    def _note_reach(self, row: KernelLine, unreached: set[str]) -> None:
        """Whether the line of a variable has run, as far as all that ran is written down."""
        if row.variable and (row.holds or row.reads) and self._is_whole:
            (unreached.discard if row.line in self._rows else unreached.add)(row.variable)

    @cached_property
    def _pointer(self) -> re.Pattern[str]:
        """Any of the kernel's pointers, by each of its names."""
        return re.compile(rf"\b(?:{'|'.join(self._names([*self.read, *self.written]))})\b")

    @cached_property
    def _stored(self) -> re.Pattern[str]:
        """The beginning of a line that stores to one."""
        names = "|".join(self._names(self.written))
        return re.compile(rf"\s*(?:(?P<variable>tmp\w+)\.store\()?(?P<pointer>{names})\b")

    def _names(self, parameters: Iterable[str]) -> list[str]:
        return [*dict.fromkeys(parameters), *(name for name, _ in _ALIAS.findall(self.source))]

    @cached_property
    def _is_whole(self) -> bool:
        return sum(each.size for rows in self._rows.values() for each in rows) < MOST

    def _kept_nodes(self) -> dict[str, str]:
        """By pointer: the node whose value its buffer has at the end; inductor reuses buffers within a kernel."""
        stores = ((row, self._stored.match(self.source.split("\n")[row.line - 1])) for row in self.lines)
        return {self._buffer(stored["pointer"]): row.node for row, stored in sorted(stores, key=_line_of) if stored}

    def _buffer(self, name: str) -> str:
        """The parameter that a pointer is: some have a second name, by which the kernel may store, too."""
        same: dict[str, str] = dict(_ALIAS.findall(self.source))
        return same.get(name, name)

    def _loaded_behind(self, number: int, pointer: str) -> int:
        """The kinds of what a line has stored that has another in its place at the end: of whoever loads it next."""
        texts = self.source.split("\n")
        called = {pointer, *(name for name, of in _ALIAS.findall(self.source) if of == pointer)}
        loads = (
            n for n in sorted(self._rows) if n > number and called.intersection(self._pointer.findall(texts[n - 1]))
        )
        return next(map(self._kinds_at, loads), 0)

    def names(self, kinds: int) -> bool:
        """Whether the kernel has constants of all these kinds, which the program then names."""
        return not kinds & ~self._named_in(self.source)

    def _given(
        self,
        text: str,
        known: Mapping[str, int],
        kept: Mapping[str, str],
        assigned: re.Match[str] | None,
        stored: re.Match[str] | None,
    ) -> tuple[int, list[str]]:
        """The kinds of what a line computes with, and its variables."""
        value = assigned["value"] if assigned else text[stored.end("pointer") :] if stored else text
        names = _VARIABLE.findall(value) + ([stored["variable"]] if stored and stored["variable"] else [])
        found = self._named_in(value)
        for name in names:
            found |= known.get(name, 0)
        for pointer in () if stored else self._pointer.findall(value):
            own = self.written.get(pointer) if pointer in kept else None  # else a template's product, which it makes
            tensor = self.read.get(pointer, own)
            found |= self.kinds_of(tensor) if tensor is not None else 0
        return found, names

    def _named_in(self, text: str) -> int:
        """The kinds of the constants that a text has."""
        return sum(self.bits[kind] for kind, pattern in _NAMED.items() if pattern.search(text))

    def _kinds_at(self, line: int) -> int:
        found = 0
        for rows in self._rows[line]:
            found |= self.kinds_of(rows.lanes[rows.counts])
        return found

    def _told(self, row: KernelLine, made: int, sources: Sequence[int], by_line: Mapping[int, KernelLine]) -> FirstBad:
        """The first number of a line that is bad, with its element, and the numbers that it was computed from."""
        held = next((each for each in row.holds if each.node == row.node), row.holds[0])
        for rows in self._rows[row.line]:
            numbers = rows.lanes[rows.counts]
            at = next((i for i in range(len(numbers)) if self.kinds_of(numbers[i : i + 1]) & made), None)
            if at is None:
                continue
            element = None
            if is_counted(held):
                element = tuple(int(each[at]) for each in element_of(held, row, rows))
            given = {}
            for line in sources:
                of = by_line[line].holds[0].node if by_line[line].holds else by_line[line].reads or ""
                same = [each for each in self._rows[line] if each.counts.shape == rows.counts.shape]
                if of and len(same) == 1:
                    given[of] = float(same[0].lanes[rows.counts][at])
            return FirstBad(row.line, held.node, row.node, made, element, given)
        return FirstBad(row.line, held.node, row.node, made, None, {})
