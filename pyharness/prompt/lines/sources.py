"""Lines of commands: typed at a plain terminal, or from files and pipes."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from collections import deque
from typing import TYPE_CHECKING, Protocol

from pyharness.host.regular_file import read_text
from pyharness.model.errors import UsageError
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.prompt.screen import Screen

PROMPT = "(ph) "
_WAKING = 64
"""Bytes, each of which is a signal."""


class Source(Protocol):
    """Whoever the next line comes from, when files are done."""

    prompt: str
    """What stands before a line."""

    @property
    def forgives(self) -> bool:
        """Whether a person types, who goes on after an error."""

    def read(self) -> str:
        """The next line; ``EOFError`` at the end, ``KeyboardInterrupt`` where one is given up."""

    def asks(self, question: str) -> bool:
        """Whether the person says yes."""


class Typed:
    """A person at a terminal that can do nothing but show lines."""

    forgives = True

    def __init__(self, screen: Screen) -> None:
        self.prompt = PROMPT
        self._screen = screen

    def read(self) -> str:
        """The next line."""
        return self._typed(self.prompt)

    def asks(self, question: str) -> bool:
        """Whether the answer begins with a y; who leaves the terminal does not object."""
        try:
            return self._typed(f"{question} (y or n) ").strip().lower().startswith("y")
        except EOFError:
            return True
        except KeyboardInterrupt:
            return False

    def _typed(self, prompt: str) -> str:
        """The line that is typed; signals are heard meanwhile, whichever thread they come to, in the background too.

        There Python could do nothing about one: a process that reads its terminal from behind is stopped as it reads.
        """
        self._screen.write_unended(prompt)
        woken, pythons = socket.socketpair()
        with woken, pythons:
            pythons.settimeout(0)
            before = signal.set_wakeup_fd(pythons.fileno(), warn_on_full_buffer=False)
            try:
                # Python forgets a signal that another thread took right before, until this one gets the GIL anew.
                select.select([], [], [], 0)
                while sys.stdin not in select.select([sys.stdin, woken], [], [])[0]:
                    woken.recv(_WAKING)
            finally:
                signal.set_wakeup_fd(before)
        return input()


class Piped:
    """A pipe or a file; each line is shown, so that the output can be read alone."""

    forgives = False

    def __init__(self, lines: Iterable[str], screen: Screen) -> None:
        self.prompt = PROMPT
        self._lines = iter(lines)
        self._screen = screen

    def read(self) -> str:
        """The next line."""
        line = next(self._lines, None)
        if line is None:
            raise EOFError
        line = line.rstrip("\r\n")
        self._screen.write_lines([Line(f"{self.prompt}{line}", "faint")])
        return line

    def asks(self, question: str) -> bool:
        """Nobody is there to say no."""
        del question
        return True


class Lines:
    """The lines of files before those of whoever is there; an error in a file leaves out the rest of it."""

    def __init__(self, source: Source, screen: Screen, first: Iterable[str] = ()) -> None:
        self._source = source
        self._screen = screen
        self._waiting = deque(first)
        self._files: list[tuple[str, int]] = []
        """Files whose lines are being read, the innermost last, and how many lines wait behind each."""

    @property
    def prompt(self) -> str:
        """What stands before a line."""
        return self._source.prompt

    @prompt.setter
    def prompt(self, text: str) -> None:
        self._source.prompt = text

    @property
    def is_typed(self) -> bool:
        """Whether a person is there."""
        return self._source.forgives

    @property
    def from_file(self) -> bool:
        """Whether the next line is one of a file's."""
        return bool(self._waiting)

    def put_first(self, path: str) -> None:
        """Have the lines of a file read before all others; ``UsageError`` where that would never end."""
        file, behind = os.path.realpath(path), len(self._waiting)
        if any(file == each for each, _ in self._files):
            raise UsageError(f"{path} is a file whose commands are being done: they would never end.", "Leave it out.")
        lines = [line.rstrip("\r\n") for line in file_lines(path)]
        self._waiting.extendleft(reversed(lines))
        self._files.append((file, behind))

    def read(self) -> str:
        """The next line; one that is empty in a file repeats nothing."""
        self._files = [each for each in self._files if len(self._waiting) > each[1]]  # those that have more lines
        if not self._waiting:
            return self._source.read()
        line = self._waiting.popleft()
        self._screen.write_lines([Line(f"{self.prompt}{line}", "faint")])
        return line or "#"

    def failed(self) -> bool:
        """Something went wrong in a line; whether another is to be read."""
        self._waiting.clear()
        self._files.clear()
        return self._source.forgives

    def asks(self, question: str) -> bool:
        """Whether the person says yes."""
        return self._source.asks(question)


def file_lines(path: str) -> Iterator[str]:
    """The commands in a file; ``UsageError`` where it cannot be read."""
    try:
        return iter(read_text(path).splitlines())
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} cannot be read: {why}.", "Name a file with a command in each line.") from error
