"""Finds the reports of a test among the files of a folder."""

from __future__ import annotations

from json import loads
from os import scandir
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyharness.model.results.aftermath import Aftermath

_FIRST = ("sanitizer", "crash", "hang")


class Reports:
    """The reports of a folder, but those of another run: these were there before, or process ids repeat."""

    def __init__(self, folder: str, before: Mapping[str, int] | None = None) -> None:
        self.folder = folder
        self.before = dict(_written(folder)) if before is None else dict(before)
        """When each was written that was there before, in ns."""
        self._seen: set[str] = set()

    def new(self, name: str, but: int = 0) -> Iterator[Aftermath]:
        """What was written at the test of that name, by other processes than ``but``; each once."""
        for file in self._files(".json"):
            found = _read(file) if file.name not in self._seen else None
            if found is None or found.name != name or found.pid == but:
                continue
            self._seen.add(file.name)
            yield found

    def errors(self, name: str, pid: int) -> Iterator[Aftermath]:
        """What a sanitizer has found in this process at the test of that name; each once."""
        for file in self._files(f"-{pid}.json"):
            found = _read(file) if file.name not in self._seen else None
            if found is not None and found.kind == "sanitizer" and found.name == name:
                self._seen.add(file.name)
                yield found

    def of_process(self, name: str, pid: int) -> Aftermath | None:
        """What was written when a process ended at the test, or the file, of that name."""
        reports = filter(None, map(_read, self._files(f"-{pid}.json")))
        found = (one for one in reports if (one.name, one.pid) == (name, pid))
        return min(found, key=lambda one: _FIRST.index(one.kind), default=None)

    def _files(self, ends: str) -> list[Path]:
        written = sorted(_written(self.folder, ends))
        return [Path(self.folder, name) for name, time in written if self.before.get(name) != time]


def _written(folder: str, ends: str = ".json") -> Iterator[tuple[str, int]]:
    """The files of a folder, and when each was written; this is asked for each report of each test."""
    try:
        with scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(ends):
                    yield entry.name, entry.stat().st_mtime_ns
    except OSError:  # nothing was written yet, or a test has given up the right to read it
        return


def _read(file: Path) -> Aftermath | None:
    """A report; none where the file is another's, or is being written."""
    from pyharness.model.results.aftermath import aftermath_from_json  # no test has crashed without

    try:
        data = loads(file.read_text(encoding="utf-8", errors="replace"))
        return aftermath_from_json(data) if data["kind"] in _FIRST else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
