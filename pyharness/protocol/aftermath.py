"""What a program tells the process that writes a report of its end: as words of its command line, and in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pyharness.model.codec import decode
from pyharness.model.frozen import frozen


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
    told_on: int | None = None
    """The descriptor of the program's on which people are told; ``None`` for its standard error."""
    ends: str = ""
    """What else ends with the process, as people are told behind the report; empty for nothing."""


@frozen
class Now:
    """What a process that runs tests is at."""

    doing: str
    """``"test"``, ``"collection"``, or empty for neither."""
    name: str
    """pytest's id of the test, or of the file that it collects from."""
    phase: Literal["", "setup", "call", "teardown"] = ""
    """What of a test; empty for a collection."""
    limit: float = 0.0
    """Seconds that it may take; 0 for any. Whoever looks measures them: a test may have stopped its own clock."""
    number: int = 0
    """Which span of time that is: it begins anew where this is another one."""


NOTHING = Now("", "")
PHASE = 8
"""Bytes for the phase: one store of a processor, so that nobody sees half of it."""


def read_now(path: str) -> Now:
    """What a process is at; nothing where it has not begun."""
    try:
        return now_of(Path(path).read_bytes())
    except OSError:
        return NOTHING


def now_of(data: bytes) -> Now:
    """What such a file says, which is longer than that; nothing where it is being written."""
    if data[:1] == b"\0":
        return NOTHING
    phase, rest = data[:PHASE], data[PHASE:].partition(b"\0")[0]
    try:
        said = {**json.loads(rest), "phase": phase.decode("ascii").strip()}
        return decode(Now, said, "what the tests are at")
    except (ValueError, TypeError):
        return NOTHING


def now_bytes(now: Now) -> bytes:
    """What such a file has: the phase, which changes most often and has a place of its own, and the rest as JSON."""
    return phase_bytes(now.phase) + json.dumps(vars(now)).encode()


def phase_bytes(phase: str) -> bytes:
    """The phase as such a file begins with it."""
    return phase.ljust(PHASE).encode()


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
