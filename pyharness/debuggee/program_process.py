"""Which process is the program: the one that was started, or a child that goes on in its place.

pytest with ``--pyharness`` runs tests in a child, and the process that was started waits for that. What of ours looks
at a program, or is found in it, then goes with the child.
"""

from __future__ import annotations

import os
from typing import Protocol


class Part(Protocol):
    """Something of ours in the program that is a thread, or knows the process by its number."""

    def rest(self) -> None:
        """End what a fork would not take along; called in the program, which may fork next."""

    def go_on(self) -> None:
        """Be there again, in the child or, where there is none, in the same process; also without ``rest``."""


class _Program:
    """There is one in a process, and a forked child has a copy."""

    pid = os.getpid()
    parts: tuple[Part, ...] = ()


def is_here() -> bool:
    """Whether this process is the program, and not one that it has forked."""
    return os.getpid() == _Program.pid


def takes_along(part: Part) -> None:
    """Have ``part`` go with the program."""
    _Program.parts += (part,)


def rest() -> None:
    """Before the program may fork a child that goes on in its place: no thread of ours is in it."""
    for part in _Program.parts:
        part.rest()


def go_on() -> None:
    """Make this process the program: the one in which ``rest`` was called, or a child of that."""
    _Program.pid = os.getpid()
    for part in _Program.parts:
        part.go_on()
