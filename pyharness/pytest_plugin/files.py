"""What processes of one run of tests know of each other: files of a private folder.

``NAME.now``      what the process called NAME is at, and how long it may be
``NAME.journal``  the reports of tests that are done, a line of JSON each
"""

from __future__ import annotations

import os
from contextlib import suppress
from json import dumps, loads
from os import fstat, write
from os import open as open_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.host.descriptors import above_streams
from pyharness.model.frozen import frozen
from pyharness.protocol.aftermath import NOTHING, Now, now_of
from pyharness.pytest_plugin.shared import SharedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

TOLD_AGAIN = "is_told_again"
"""Marks a report that another process has written down."""
MAIN = "main"
"""The process that runs tests where there are no workers."""
_ROOM = 1 << 16
"""Bytes for what a process is at: pytest's id of a test may be long."""
_DEEPEST = 20
"""Values within values that are written; a value may lie in itself."""


@frozen
class Died:
    """A process that a test, or the import of a file of tests, has ended."""

    pid: int
    code: int
    """The exit code, or minus the signal."""
    now: Now
    """What it was at."""
    behind: int
    """Reports that had been written by then, of all processes."""


class NowFile:
    """Says what this process is at; whoever reads it while it is written reads that it is at nothing."""

    def __init__(self, folder: str, name: str) -> None:
        self.path = os.path.join(folder, f"{name}.now")  # noqa: PTH118  (before the user's own pathlib)
        self._file = SharedFile(self.path, _ROOM)

    def say(self, now: Now = NOTHING) -> None:
        """What it is at from now on."""
        self._file.write(dumps(vars(now)).encode())

    def said(self) -> Now:
        """What was said last, by this process or one that it has forked."""
        return now_of(self._file.read())


class Journal:
    """Writes and reads the reports of one process after the other."""

    def __init__(self, folder: str, name: str = MAIN) -> None:
        self.path = os.path.join(folder, f"{name}.journal")  # noqa: PTH118  (before the user's own pathlib)
        self._file, self._known = -1, (0, 0)

    def write(self, report: Any) -> None:
        """One more; seen by others at once."""
        line = _line(report).encode("utf-8", "backslashreplace")
        file = self._open()
        written = write(file, line)
        if written < len(line):  # no room: what comes next is a line of its own
            write(file, b"\n")

    def read(self) -> list[Any]:
        """All that were written; a line that was cut short is none."""
        return list(self._read())

    def _open(self) -> int:
        """The file, where the number is still its own: a test may close any, and the next that it opens has that."""
        try:
            if self._file >= 0 and _identity(fstat(self._file)) == self._known:
                return self._file
        except OSError:
            pass
        file = above_streams(open_(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
        self._file, self._known = file, _identity(fstat(file))
        return file

    def _read(self) -> Iterator[Any]:
        path = Path(self.path)
        if not path.exists():
            return
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            with suppress(ValueError):
                yield loads(line)


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _line(report: Any) -> str:
    try:
        return dumps(report, default=str) + "\n"
    except (TypeError, ValueError, RecursionError):
        return dumps(_plain(report, _DEEPEST)) + "\n"


def _plain(value: Any, deepest: int) -> Any:
    """A value as JSON can have it: what users' hooks put into a report may be anything."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if deepest and isinstance(value, dict):
        return {str(key): _plain(each, deepest - 1) for key, each in value.items()}
    if deepest and isinstance(value, (list, tuple)):
        return [_plain(each, deepest - 1) for each in value]
    try:
        return str(value) if deepest else "..."
    except Exception:  # noqa: BLE001  (the user's own __str__)
        return f"<{type(value).__name__}>"
