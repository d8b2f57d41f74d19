"""What processes of one run of tests know of each other: files of a private folder.

``NAME.now``        what the process called NAME is at, and how long it may be
``NAME.N.journal``  the reports of tests that are done, a line of JSON each; one file behind the other
"""

from __future__ import annotations

import os
from contextlib import suppress
from json import JSONEncoder, loads
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.model.frozen import frozen
from pyharness.protocol.aftermath import NOTHING, Now, now_bytes, now_of, phase_bytes
from pyharness.pytest_plugin.shared import SharedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

TOLD_AGAIN = "is_told_again"
"""Marks a report that another process has written down."""
MAIN = "main"
"""The process that runs tests where there are no workers."""
_ROOM = 1 << 16
"""Bytes for what a process is at: pytest's id of a test may be long."""
_PAGE = 1 << 18
"""Bytes for the next reports."""
_encoded = JSONEncoder(default=str).encode
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
        self._file.write(now_bytes(now) if now is not NOTHING else b"")

    def come_to(self, phase: str) -> None:
        """The phase of the test that it is at, from now on."""
        self._file.put(0, phase_bytes(phase))

    def said(self) -> Now:
        """What was said last, by this process or one that it has forked."""
        return now_of(self._file.read())


class Journal:
    """Writes and reads the reports of one process after the other; what is written costs no call of the system."""

    def __init__(self, folder: str, name: str = MAIN) -> None:
        self._name = os.path.join(folder, name)  # noqa: PTH118  (before the user's own pathlib)
        self._file: SharedFile | None = None
        self._end = self._room = 0
        self._unwritten = b""
        """Lines for which there was no room on the disk: the next may have some."""
        self._test: tuple[Any, ...] = ()
        self._begins = ""

    def write(self, report: Any) -> None:
        """One more; seen by others at once."""
        self._append(_line(report))

    def write_passed(self, name: str, location: tuple[Any, ...], *rest: Any) -> None:
        """One more of a test that has passed so far, in short: a list of these; a test has three of them."""
        if self._test != (name, location):
            self._test, self._begins = (name, location), _line([name, location])[:-1]
        self._append(f"{self._begins}, {_line(rest)[1:]}")

    def read(self) -> list[Any]:
        """All that were written; a line that was cut short is none."""
        return list(self._read())

    def begin(self) -> None:
        """Make room for the first: later a test may have put something else in the place of the file system."""
        self._begin_file(_PAGE)

    def _begin_file(self, room: int) -> None:
        self._file = SharedFile(self._path(len(self._paths())), room)
        self._end, self._room = 0, room

    def _append(self, text: str) -> None:
        self._unwritten += f"{text}\n".encode("utf-8", "backslashreplace")
        lines = self._unwritten
        if self._file is None or len(lines) > self._room:
            self._begin_file(max(_PAGE, len(lines)))
        assert self._file is not None  # noqa: S101  (or that has raised)
        self._file.put(self._end, lines)
        self._end += len(lines)
        self._room -= len(lines)
        self._unwritten = b""

    def _paths(self) -> list[str]:
        paths: list[str] = []
        while os.path.exists(path := self._path(len(paths))):  # noqa: PTH110
            paths.append(path)
        return paths

    def _path(self, number: int) -> str:
        return f"{self._name}.{number}.journal"

    def _read(self) -> Iterator[Any]:
        for path in self._paths():
            written = Path(path).read_bytes().partition(b"\0")[0]
            for line in written.decode("utf-8", "replace").split("\n"):
                with suppress(ValueError):
                    yield loads(line)


def _line(report: Any) -> str:
    try:
        return _encoded(report)
    except (TypeError, ValueError, RecursionError):
        return _encoded(_plain(report, _DEEPEST))


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
