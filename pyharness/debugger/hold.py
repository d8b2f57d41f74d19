"""The hold that a session has on its program, and how it is given up: once, by whoever comes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyharness.debugger.interrupts import postponed

if TYPE_CHECKING:
    from pyharness.debugger.shell import Shell


@dataclass
class Hold:
    """A program and its debuggers."""

    shell: Shell
    ours: bool
    """Whether the program was started for this session, and ends with it."""
    given_up: bool = False

    def detach(self) -> None:
        """Leave the program running without any debugger."""
        self.given_up = True
        with postponed():
            self.shell.let_go()

    def kill(self) -> None:
        """End the program."""
        self.given_up = True
        with postponed():
            self.shell.kill()

    def give_up(self) -> None:
        """End the program if it is ours, else leave it, and give back everything."""
        if not self.given_up:
            (self.kill if self.ours else self.detach)()
        with postponed():
            self.shell.close()
