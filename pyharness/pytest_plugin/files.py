"""What processes of one run of tests know of each other: files of a private folder.

``NAME.now``      what the process called NAME is at, and until when it may be
``NAME.journal``  the reports of tests that are done, a line of JSON each
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.model.frozen import frozen
from pyharness.protocol.aftermath import NOTHING, Now

if TYPE_CHECKING:
    from collections.abc import Iterator

TOLD_AGAIN = "is_told_again"
"""Marks a report that another process has written down."""
MAIN = "main"
"""The process that runs tests where there are no workers."""


@frozen
class Died:
    """A process that a test, or the import of a file of tests, has ended; an entry of the journal."""

    pid: int
    code: int
    """The exit code, or minus the signal."""
    now: Now
    """What it was at."""


class NowFile:
    """Says what this process is at; whoever reads it while it is written sees the whole of one or the other."""

    def __init__(self, folder: str, name: str) -> None:
        self.path = os.path.join(folder, f"{name}.now")  # noqa: PTH118  (before the user's own pathlib)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._length = 0

    def say(self, now: Now = NOTHING) -> None:
        """What it is at from now on."""
        line = json.dumps(vars(now)).encode() + b"\n"
        os.pwrite(self._file, line.ljust(self._length), 0)
        self._length = max(self._length, len(line))


class Journal:
    """Writes and reads the reports of one process after the other."""

    def __init__(self, folder: str, name: str = MAIN) -> None:
        self.path = Path(folder) / f"{name}.journal"
        self._file = -1

    def write(self, kind: str, data: Any) -> None:
        """One more; seen by others at once."""
        if self._file < 0:
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.write(self._file, json.dumps([kind, data], default=str).encode("utf-8", "backslashreplace") + b"\n")

    def read(self) -> Iterator[tuple[str, Any]]:
        """All that were written; a line that was cut short is none."""
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                kind, data = json.loads(line)
            except ValueError:
                continue
            yield kind, data
