"""What a front door hears of its program: it overrides what it wants to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.stop import Stopped
    from pyharness.model.errors import HarnessError
    from pyharness.protocol.channel import Child


class Listener:
    """Hears of everything on the thread that handles the shell's events, in the order in which it came."""

    def configure(self) -> bool:
        """debugpy takes breakpoints: set them now. Whether that is done, so that the program may go on."""
        return True

    def ready(self) -> None:
        """The program stands before its first line, or what was attached to is debugged."""

    def stopped(self, stop: Stopped) -> None:
        """The program stands, and is the client's to look at."""

    def ended(self, exit_code: int) -> None:
        """The program is over."""

    def bound(self, breakpoint_: Breakpoint) -> None:
        """A place was found in code that is loaded."""

    def refused(self, breakpoint_: Breakpoint, problem: HarnessError) -> None:
        """A breakpoint cannot be set in the code that was loaded for it; raised where nobody takes it."""
        del breakpoint_
        raise problem

    def output(self, text: str, category: str) -> None:
        """debugpy says something: what a log point prints is ``stdout``."""

    def logged(self, breakpoint_: Breakpoint, text: str) -> None:
        """A log point printed a line."""

    def libraries(self, native: NativeSide) -> None:
        """gdb is attached, or has read more of the user's libraries."""

    def child(self, child: Child) -> None:
        """A child process waits to be debugged."""

    def other(self, source: str, item: Any) -> None:
        """What the front door itself put into the queue of events, while the shell waited for something else."""
