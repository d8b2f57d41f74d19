"""What was found out about addresses of a library, kept by its build-id: the next stack has the same functions.

A library's table of symbols can have 600,000 entries; to read it once more for ten names takes longer than all else.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.host.regular_file import read_own
from pyharness.host.state import StateError, state_dir, write_private
from pyharness.reading.functions.place import CodePlace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyharness.reading.binaries.elf import Elf

_VERSION = 2
_MOST_ENTRIES, _MOST_FILES = 5000, 200
_LARGEST = 4 << 20


class KeptPlaces:
    """Reads a library's file when it is first asked about, and writes the files that have grown."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, list[CodePlace]]] = {}
        self._grown: set[str] = set()

    def at(self, elf: Elf, address: int, find: Callable[[Elf, int], list[CodePlace]]) -> list[CodePlace]:
        """The functions at an address of the file's own; ``find`` finds what is not known yet."""
        if not elf.build_id:
            return find(elf, address)
        if elf.build_id not in self._tables:
            self._tables[elf.build_id] = _read(elf.build_id)
        table, key = self._tables[elf.build_id], f"{address:x}"
        if key not in table and (found := find(elf, address)):
            table[key] = found
            self._grown.add(elf.build_id)
        return table.get(key, [])

    def write(self) -> None:
        """Keep what was found; a full disk only costs time."""
        with suppress(OSError, StateError):
            for build_id in self._grown:
                newest = dict(list(self._tables[build_id].items())[-_MOST_ENTRIES:])
                data = json.dumps({"version": _VERSION, "places": newest}, separators=(",", ":")).encode()
                write_private(_file(build_id), data)
            if self._grown:
                _forget_oldest(state_dir("symbols"))
        self._grown.clear()


def _file(build_id: str) -> Path:
    return state_dir("symbols") / f"places-{build_id}.json"


def _read(build_id: str) -> dict[str, list[CodePlace]]:
    try:
        found = json.loads(read_own(_file(build_id), _LARGEST))
        if found["version"] != _VERSION:
            return {}
        return {key: [CodePlace(*place) for place in places] for key, places in found["places"].items()}
    except (OSError, StateError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _forget_oldest(folder: Path) -> None:
    """Every rebuild leaves a file here: keep the newest."""
    files = sorted(folder.glob("places-*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[_MOST_FILES:]:
        file.unlink(missing_ok=True)
