"""Which lines the asked places mean: files are matched as they are first run, FX places as their code is generated."""

from __future__ import annotations

import bisect
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.model import places, source_map
from pyharness.model.errors import nearest
from pyharness.model.text.code_lines import code_lines, runnable_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType

    from pyharness.protocol.agent import LinePlace


@dataclass
class Place:
    """One place at which the program shall stop."""

    number: int
    """gdb's number of the breakpoint."""
    where: str
    """The place as the person wrote it: ``fx:NAME``, ``op:NAME`` or ``py:FILE:LINE``."""
    condition: str = ""
    """A Python expression that must be true in the frame, or empty."""
    bound: list[tuple[str, int]] = field(default_factory=list)
    reached: bool = False
    runs: int = 0
    """How often its line was about to run, whatever its condition said."""

    @property
    def generated_name(self) -> tuple[str, str]:
        """The kind and the name of a place in generated code, else ``("", "")``."""
        kind, _, name = self.where.partition(":")
        return (kind, name) if kind in places.KINDS else ("", "")

    @property
    def file_line(self) -> tuple[str, int]:
        """The file and line of a Python place, else ``("", 0)``."""
        kind, _, rest = self.where.partition(":")
        file, _, line = rest.rpartition(":")
        return (file, int(line)) if kind == "py" and line.isdigit() else ("", 0)


class Places:
    """Every asked place, and what the program has shown so far that a place could mean."""

    def __init__(self) -> None:
        self._places: dict[int, Place] = {}
        self._lines: dict[str, dict[int, list[Place]]] = {}
        self._generated: dict[str, None] = {}

    def replace(self, asked: Iterable[LinePlace]) -> None:
        """Exactly these places from now on; a place that stays keeps whether it was reached."""
        known = self._places
        self._places = {}
        for entry in asked:
            place = Place(entry.number, entry.where, entry.condition)
            before = known.get(place.number)
            if before is not None and before.where == place.where:
                place.reached, place.runs = before.reached, before.runs
            self._places[place.number] = place
        self._lines = {file: {} for file in self._lines}
        for file in self._lines:
            self._bind(file)

    def generated(self, file: str) -> None:
        """torch.fx made ``file``, which has a source map beside it."""
        self._generated[file] = None
        self._bind(file)

    @property
    def empty(self) -> bool:
        """Whether no place is asked for."""
        return not self._places

    def in_code(self, code: CodeType) -> bool:
        """Whether a place is on a line of this code object; cheap, it is asked for each call."""
        lines = self.lines_of(code.co_filename)
        return bool(lines) and not _lines_in(code.co_linetable, code.co_firstlineno, code).isdisjoint(lines)

    def lines_of(self, file: str) -> dict[int, list[Place]]:
        """Line → places in ``file``, as a code object names it; empty where it has none."""
        if file not in self._lines:
            self._bind(file)
        return self._lines[file]

    def unreached(self) -> Iterator[dict[str, Any]]:
        """The places that were never reached, each with the nearest names or why it cannot be."""
        for place in self._places.values():
            if not place.reached:
                yield {"id": place.number, "where": place.where, "hint": self._hint(place)}

    def _bind(self, file: str) -> None:
        lines: dict[int, list[Place]] = {}
        for place in self._places.values():
            for line in self._meant(place, file):
                lines.setdefault(line, []).append(place)
                if (file, line) not in place.bound:
                    place.bound.append((file, line))
        self._lines[file] = lines

    def _meant(self, place: Place, file: str) -> list[int]:
        kind, name = place.generated_name
        if kind:
            found = source_map.map_of(file) if file in self._generated else None
            return [entry.line for entry in places.statements(found, kind, name)] if found else []
        asked_file, line = place.file_line
        if not asked_file or not _same_file(asked_file, file):
            return []
        runnable = runnable_lines(file)
        index = bisect.bisect_left(runnable, line)
        return [runnable[index]] if index < len(runnable) else []

    def _hint(self, place: Place) -> str:
        if place.bound:
            file, line = place.bound[0]
            times = "once" if place.runs == 1 else f"{place.runs} times"
            no = f"that line ran {times}, its condition was never true there" if place.runs else "that line never ran"
            return f"It is {file}:{line}; {no}."
        kind, name = place.generated_name
        if kind:
            return self._generated_hint(kind, name)
        file, line = place.file_line
        run = [known for known in tuple(self._lines) if Path(known).is_file()]
        same = [known for known in run if _same_file(file, known)]
        if same:
            return f"{same[0]} has no code at or after line {line}."
        near = nearest(Path(file).name, [Path(known).name for known in run])
        return f"The program ran no file {file!r}. {near}".rstrip()

    def _generated_hint(self, kind: str, name: str) -> str:
        maps = [found for found in map(source_map.map_of, self._generated) if found is not None]
        if not maps:
            return "torch.fx generated no code in this run."
        known = [text for found in maps for text in places.names(found, kind)]
        return nearest(name, known) or f"torch.fx generated nothing of such a name (graphs: {len(maps)})."


_known_lines: dict[tuple[bytes, int], frozenset[int]] = {}


def _lines_in(table: bytes, first: int, code: CodeType) -> frozenset[int]:
    """``code_lines``, remembered by what determines them: a code object hashes slowly and would be kept alive."""
    lines = _known_lines.get((table, first))
    if lines is None:
        lines = _known_lines[table, first] = frozenset(code_lines(code))
    return lines


def _same_file(asked: str, file: str) -> bool:
    """Whether the person's ``asked`` means ``file``: the same file, or the end of its path."""
    if file.startswith("<") or os.path.basename(asked) != os.path.basename(file):  # noqa: PTH119  (each new file: hot)
        return False
    if Path(asked).is_absolute():
        return os.path.realpath(asked) == os.path.realpath(file)
    return f"/{Path(file).absolute()}".endswith(f"/{os.path.normpath(asked)}")
