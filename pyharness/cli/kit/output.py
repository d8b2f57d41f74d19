"""The one place that prints: plain text into files and pipes, colour and progress on a terminal.

Nothing that comes from a program or a file is obeyed by the terminal: what is not ours is made visible here.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, ClassVar

from pyharness.model.errors import HarnessError
from pyharness.model.text.styled_line import Line, painted
from pyharness.model.text.visible import visible, visible_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.model.text.styled_line import Style

_PATIENCE = 1.0
"""Seconds after which a terminal is told what takes so long."""


class _Streams:
    """Where we print."""

    own: ClassVar[dict[str, IO[str]]] = {}


def keep() -> None:
    """Print to where stdout and stderr lead now, whatever code of the user's does to these in this process."""
    for name in ("stdout", "stderr"):
        theirs = getattr(sys, name)
        with suppress(OSError, ValueError):  # one that is closed already
            _Streams.own[name] = open(  # noqa: SIM115, PTH123  (until the end)
                os.dup(theirs.fileno()), "w", encoding=theirs.encoding, errors=theirs.errors
            )


def _stdout() -> IO[str]:
    return _of_ours("stdout")


def _stderr() -> IO[str]:
    return _of_ours("stderr")


def _of_ours(name: str) -> IO[str]:
    """The stream, behind what the user's code has written there."""
    theirs: IO[str] = getattr(sys, name)
    own = _Streams.own.get(name)
    if own is None:
        return theirs
    with suppress(OSError, ValueError, AttributeError):  # theirs may be anything
        theirs.flush()
    return own


def write(text: str) -> None:
    """A line, or several, to stdout."""
    _print(visible(text))


def _print(text: str, end: str = "\n") -> None:
    progress.clear()
    try:
        _put(f"{text}{end}", _stdout())
    except BrokenPipeError:
        raise
    except OSError as error:
        raise HarnessError(f"Standard output cannot be written: {error.strerror}.", "Is the disk full?") from error


def _put(text: str, stream: IO[str]) -> None:
    """Write in one piece: the program writes there, too, and ``print`` makes two of a line under PYTHONUNBUFFERED."""
    stream.write(text)
    stream.flush()


def write_unended(text: str) -> None:
    """The beginning of a line, which a person ends."""
    _print(visible(text), end="")


def write_json(data: Any) -> None:
    """One JSON object to stdout."""
    import json  # --help prints here, too, and needs none

    _print(visible_json(json.dumps(data, ensure_ascii=False, indent=2)))


def write_lines(lines: Iterable[Line]) -> None:
    """Lines to stdout, coloured by their style on a terminal."""
    colour = _colours(_stdout())
    _print("\n".join(painted(line, colour=colour) for line in lines))


def new_page() -> None:
    """Take what is shown off the terminal; nothing where stdout is none."""
    if _stdout().isatty() and _can_move(_stdout()):
        _print("\x1b[H\x1b[2J", end="")


def drop() -> None:
    """Lose what stdout could not take, and what follows: the interpreter would try, and fail, once more as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), _stdout().fileno())


def rows() -> int | None:
    """The height of the terminal in lines; ``None`` where stdout is none."""
    import shutil

    return shutil.get_terminal_size().lines if _stdout().isatty() else None


def in_colour() -> bool:
    """Whether lines on stdout have colours."""
    return _colours(_stdout())


def columns() -> int | None:
    """The width of the terminal in columns; ``None`` where stdout is none."""
    return _terminal_columns() if _stdout().isatty() else None


def error(message: str, remedy: str = "") -> None:
    """What went wrong and what to do about it, to stderr."""
    _aside("bad", message, remedy)


def note(text: str) -> None:
    """What to know while a program runs, to stderr."""
    _aside("warn", text)


def _aside(style: Style, message: str, remedy: str = "") -> None:
    progress.clear()
    try:
        _stdout().flush()
    except OSError:
        drop()
    head = _on_stderr("pyharness:", style)
    shown = visible("\n".join([message.rstrip(), *([remedy] if remedy else [])]))
    _put(f"{head} {shown}\n", _stderr())


class _Progress:
    """A line on the terminal that says what takes long; gone with the next output."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self._shown = False
        self._lock = threading.Lock()

    def __call__(self, text: str) -> None:
        """Something that can take a second begins."""
        self.clear()
        if not _can_move(_stderr()):
            return
        self._timer = threading.Timer(_PATIENCE, self._show, (text,))
        self._timer.daemon = True
        self._timer.start()

    def count(self, text: str) -> None:
        """One part of a long work is done: at once, and for whoever reads a log, too."""
        self.clear()
        if _can_move(_stderr()):
            self._show(text)
        else:
            _put(f"{visible(text)}\n", _stderr())

    def clear(self) -> None:
        """Take the note back: the work is done, or something else is printed."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        with self._lock:
            if self._shown:
                self._shown = False
                _stderr().write("\r\x1b[K")
                _stderr().flush()

    def _show(self, text: str) -> None:
        with self._lock:
            self._shown = True
            shown = visible(f"… {text}")[: _terminal_columns() - 1]
            _stderr().write(f"\r\x1b[K{_on_stderr(shown, 'faint')}")
            _stderr().flush()


progress = _Progress()


class _Status:
    """A note at the right end of the terminal's current line, while a program writes to the left of it.

    The program's output and ours cannot be told apart there, so the cursor is put back where it was.
    """

    def __init__(self) -> None:
        self._width = 0

    @staticmethod
    def wanted() -> bool:
        """Whether anybody would see it."""
        return _can_move(_stderr())

    def __call__(self, text: str) -> None:
        """Replace the note."""
        text = visible(f"… {text}")
        self._draw(f"{text:>{self._width}}")
        self._width = max(self._width, len(text))

    def clear(self) -> None:
        """Take the note away."""
        self._draw(" " * self._width)
        self._width = 0

    @staticmethod
    def _draw(text: str) -> None:
        column = _terminal_columns() - len(text)
        if column > 0 and text:
            _stderr().write(f"\x1b7\x1b[{column + 1}G{_on_stderr(text, 'faint')}\x1b8")
            _stderr().flush()


status = _Status()


def _can_move(stream: IO[str]) -> bool:
    """Whether it is a terminal on which what was written can be taken back."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class _Colours:
    """Whether colours are wanted at all."""

    off = False


colours = _Colours()


def _colours(stream: IO[str]) -> bool:
    return not colours.off and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _on_stderr(text: str, style: Style) -> str:
    return painted(Line(text, style), colour=_colours(_stderr()))


def _terminal_columns() -> int:
    import shutil

    return shutil.get_terminal_size().columns
