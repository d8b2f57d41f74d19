"""What a program tells the process that writes a report of its end: as words of its command line, and in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pyharness.model.frozen import frozen
from pyharness.protocol.codec import decode


@frozen
class Reported:
    """What is known from the start; JSON, the first word."""

    folder: str
    """Where reports are written, an absolute path."""
    name: str
    """The program's, for people."""
    command: tuple[str, ...]
    """The program's command line, from its script on."""
    test: str = ""
    """The path of a file with a ``Now``, where it runs tests; empty for other programs."""
    raised: int | None = None
    """The descriptor of a file with a ``Raised``; ``None`` where a signal ends the program: numbers follow then."""


@frozen
class Now:
    """What a process that runs tests is at."""

    doing: str
    """``"test"``, ``"collection"``, or empty for neither."""
    name: str
    """pytest's id of the test, or of the file that it collects from."""
    phase: Literal["", "setup", "call", "teardown"] = ""
    """What of a test; empty for a collection."""
    until: float = 0.0
    """When that has taken too long, of ``time.monotonic``; 0 for never."""


NOTHING = Now("", "")


def read_now(path: str) -> Now:
    """What a process is at; nothing where it has not begun."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        return decode(Now, json.loads(text), "what the tests are at")
    except (OSError, ValueError):
        return NOTHING


@frozen
class RaisedFrame:
    """A frame that an exception went through."""

    function: str
    file: str
    line: int
    variables: tuple[tuple[str, str], ...]
    """Local variables, as text."""


@frozen
class Raised:
    """An exception that nobody has caught."""

    process: int
    thread: int
    """The kernel's id."""
    what: str
    """Type and message, in a line."""
    traceback: str
    """What Python prints of it, with the exceptions that it came of."""
    frames: tuple[RaisedFrame, ...]
    """Where it was raised comes first."""
