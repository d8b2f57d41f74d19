"""What a process has said of itself: its interpreter, the program that it runs, and whether that is over."""

from __future__ import annotations

from dataclasses import dataclass

from pyharness.host.process_state import program_of


@dataclass
class Lifetime:
    """One program of a process, from its hello to its end."""

    executable: str = ""
    """The program's interpreter; empty until it has said hello."""
    ending: bool = False
    """The program has said that it ends: what leaves it from then on is not lost, however long the end takes."""
    replaced: bool = False
    """Whether the process has become another program."""
    _program: str = ""

    def begins(self, executable: str, pid: int) -> None:
        """Take the program's hello."""
        self.executable, self._program = executable, program_of(pid)

    def is_another(self, pid: int) -> bool:
        """Whether the process has become another program (``exec`` by native code), in which nobody debugs."""
        now = program_of(pid)
        return not self.ending and bool(self._program and now) and now != self._program

    def becomes_another(self) -> None:
        """Note that this program is over, and its process is not."""
        self.ending = self.replaced = True
