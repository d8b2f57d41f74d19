"""Finds the reports of a test among the files of a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.results.aftermath import Aftermath

_FIRST = ("crash", "hang")


class Reports:
    """The reports of a folder, but those that were there before: of another run."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._seen = set(self._folder.glob("*.json"))

    def new(self, name: str, but: int = 0) -> Iterator[Aftermath]:
        """What was written at the test of that name, by other processes than ``but``; each once."""
        for file in sorted(set(self._folder.glob("*.json")) - self._seen):
            found = _read(file)
            if found is None or found.name != name or found.pid == but:
                continue
            self._seen.add(file)
            yield found


def of_process(folder: str, name: str, pid: int) -> Aftermath | None:
    """What was written when a process ended at the test, or the file, of that name."""
    reports = filter(None, map(_read, sorted(Path(folder).glob(f"*-{pid}.json"))))
    found = (one for one in reports if (one.name, one.pid) == (name, pid))
    return min(found, key=lambda one: _FIRST.index(one.kind), default=None)


def _read(file: Path) -> Aftermath | None:
    """A report; none where the file is another's, or is being written."""
    from pyharness.model.results.aftermath import aftermath_from_json  # no test has crashed without

    try:
        data = json.loads(file.read_text(encoding="utf-8", errors="replace"))
        return aftermath_from_json(data) if data["kind"] in _FIRST else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
