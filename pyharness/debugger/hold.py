"""The hold that a session has on its program, and how it is given up: once, by whoever comes first."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyharness.debugger.interrupts import postponed
from pyharness.model.errors import HarnessError
from pyharness.model.forks import own

if TYPE_CHECKING:
    from pyharness.debugger.shell import Shell


@dataclass(eq=False)
class Hold:
    """A program and its debuggers."""

    shell: Shell
    ours: bool
    """Whether the program was started for this session, and ends with it."""
    given_up: bool = False
    owner: int = field(default_factory=os.getpid)
    """The process whose session it is."""
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

    def detach(self) -> None:
        """Leave the program running without any debugger."""
        self.require_own()
        self.given_up = True
        with postponed():
            self.shell.let_go()

    def kill(self) -> None:
        """End the program."""
        self.require_own()
        self.given_up = True
        with postponed():
            self.shell.kill()

    def give_up(self) -> None:
        """End the program if it is ours, else leave it, and give back everything; nothing in a forked child."""
        if self.foreign:
            return
        if not self.given_up:
            (self.kill if self.ours else self.detach)()
        with postponed():
            self.shell.close()
