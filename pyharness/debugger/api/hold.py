"""The hold that a session has on its program, and how it is given up: once, by whoever comes first."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyharness.debugger.api.turns import Turns
from pyharness.debugger.interrupts import postponed
from pyharness.host.forks import own
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.debugger.shell import Shell

_PATIENCE = 10.0
"""Seconds that another thread's call may take to return, once it was told to."""


@dataclass(eq=False)
class Hold:
    """A program and its debuggers."""

    shell: Shell
    ours: bool
    """Whether the program was started for this session, and ends with it."""
    given_up: bool = False
    owner: int = field(default_factory=os.getpid)
    """The process whose session it is."""
    ended: bool = False
    """Whether the program was ended with it."""
    turns: Turns = field(default_factory=Turns)
    foreign: bool = False
    """Whether this is the copy of a forked child, which holds nothing."""

    def __post_init__(self) -> None:
        own(self)

    def disown(self) -> None:
        """In a forked child, leave the program to the parent: neither this child's end nor a ``with`` block ends it."""
        self.foreign = True

    def require_own(self) -> None:
        """``HarnessError`` in a forked child."""
        if self.foreign:
            raise HarnessError(
                f"This session belongs to process {self.owner}: a forked child cannot use it.",
                "Use it there, or begin another here: pyharness.debug or pyharness.attach.",
            )

    @contextmanager
    def used(self, *, runs: bool = False) -> Iterator[None]:
        """Have the session for this thread; ``HarnessError`` where another thread gave it up meanwhile."""
        self.require_own()
        with self.turns.one(runs=runs):
            given_up = self.given_up
            try:
                yield
            except HarnessError as error:
                if self.given_up and not given_up:
                    raise self.left() from error
                raise
            if self.given_up and not given_up:
                raise self.left()

    def left(self) -> HarnessError:
        """The error of a call that the end of the session has cut short."""
        if self.ended:
            return HarnessError(
                "The program was ended during this call, which did not return before: by kill() or close().",
                "Start it again.",
            )
        return HarnessError(
            "The program was let go during this call, which did not return before: by detach() or close().",
            "Attach to it again: pyharness.attach.",
        )

    def detach(self) -> None:
        """Leave the program running without any debugger."""
        self.require_own()
        with postponed():  # a Ctrl-C between the word and the deed would leave a program that nobody lets go
            self.given_up = True
            self._have_others_return()
            self.shell.let_go()

    def kill(self) -> None:
        """End the program."""
        self.require_own()
        with postponed():
            self.given_up = self.ended = True
            self.shell.kill(self._have_others_return)

    def _have_others_return(self) -> None:
        """Have another thread's call return first: both debuggers serve one thread at a time."""
        self.shell.leave()
        self.turns.wait(_PATIENCE)

    def give_up(self) -> None:
        """End the program if it is ours, else leave it, and give back everything; nothing in a forked child."""
        if self.foreign:
            return
        if not self.given_up:
            (self.kill if self.ours else self.detach)()
        with postponed():
            self.shell.close()
