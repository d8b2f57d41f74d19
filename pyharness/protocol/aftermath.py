"""What a program tells the process that writes a report of its end: as words of its command line, and in a file."""

from __future__ import annotations

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
    raised: int | None = None
    """The descriptor of a file with a ``Raised``; ``None`` where a signal ends the program: numbers follow then."""


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
