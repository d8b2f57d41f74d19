"""What a process has said of itself: its interpreter, the program that it runs, and whether that is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyharness.host.process_state import program_of

if TYPE_CHECKING:
    from pyharness.protocol.agent import Doorway
    from pyharness.protocol.channel import Hello


@dataclass
class Lifetime:
    """One program of a process, from its hello to its end."""

    executable: str = ""
    """The program's interpreter; empty until it has said hello."""
    agent: Doorway | None = None
    """Where its agent is asked; ``None`` where it has none."""
    guarded: bool = False
    """Whether it outlives a breakpoint of gdb's that is left in it."""
    ending: bool = False
    """The program has said that it ends: what leaves it from then on is not lost, however long the end takes."""
    replaced: bool = False
    """Whether the process has become another program."""
    _program: str = ""

    def begins(self, hello: Hello, pid: int) -> None:
        """Take the program's hello."""
        self.executable, self._program = hello.executable, program_of(pid)
        self.agent, self.guarded = hello.agent, hello.guard

    def is_another(self, pid: int) -> bool:
        """Whether the process has become another program (``exec`` by native code), in which nobody debugs."""
        now = program_of(pid)
        return not self.ending and bool(self._program and now) and now != self._program

    def becomes_another(self) -> None:
        """Note that this program is over, and its process is not."""
        self.ending = self.replaced = True
