"""``pyharness.Pdb``: what ``pytest --pdbcls=pyharness:Pdb`` opens in place of pdb.

Only what calls it decides what a class like pdb's has: pytest makes one, overrides ``do_continue`` to resume its
capture, and calls ``set_trace``, ``interaction`` or ``runcall``.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.in_place import stops
from pyharness.debuggee.in_place.prompt import Prompt
from pyharness.debuggee.in_place.raised_soon import raise_soon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType


class Pdb:
    """One stop, or one exception that is looked at."""

    def __init__(self, **_named: Any) -> None:
        """Take what pdb takes: streams and a set of keys, of which the prompt needs none."""
        self.quitting = False
        """Whether the person has left by `quit`: pytest ends its run then."""

    def reset(self) -> None:
        """Begin anew."""
        self.quitting = False

    def set_trace(self, frame: FrameType | None = None, **_named: Any) -> None:
        """Open the prompt at the next line of ``frame``, or of the caller."""
        frame = frame or sys._getframe(1)
        with _hook_kept():
            stops.stop_in(frame)
        self._wait_to_continue()

    def interaction(self, frame: FrameType | None, error: BaseException | TracebackType | None) -> None:
        """Open the prompt where ``error`` was raised, or in ``frame``; returns when it is left."""
        if error is None:
            stops.stop_in(frame or sys._getframe(1))
            return
        with _hook_kept():
            stops.stop_at(error)
        here = Prompt.here()
        self.quitting = here is not None and here.quits

    def runcall(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Call ``function``, with the prompt at its first line."""
        with _hook_kept():
            stops.stop_soon()
        self._wait_to_continue()
        return function(*arguments, **named)

    def do_continue(self, _argument: str) -> bool:
        """The person has the program go on; pytest adds what it does then."""
        return True

    def do_quit(self, _argument: str) -> bool:
        """Note that the person leaves by `quit`; pytest calls it by that name."""
        self.quitting = True
        return True

    def do_debug(self, _argument: str) -> None:
        """Do nothing: the prompt has no prompt within, as pdb has."""

    def setup(self, _frame: FrameType | None, _trace: TracebackType | None) -> bool:
        """Prepare nothing; whether the person wants to leave before the first command, as pdb says it."""
        return False

    def get_stack(
        self, _frame: FrameType | None, _trace: TracebackType | None
    ) -> tuple[list[tuple[FrameType, int]], int]:
        """Give no frames: the prompt finds the stack itself."""
        return [], 0

    def _wait_to_continue(self) -> None:
        """Have ``do_continue`` or ``do_quit`` called when the thread that stops goes on."""
        here = Prompt.here()
        if here is not None:
            here.on_continue = self._goes_on

    def _goes_on(self) -> None:
        """The thread is still within the debugger: what pytest raises to end its run comes behind that."""
        here = Prompt.here()
        if here is None or not here.quits:
            self.do_continue("")
            return
        try:
            self.do_quit("")
        except BaseException as error:  # noqa: BLE001  (not lost: it is raised where it is meant for)
            raise_soon(error)


@contextmanager
def _hook_kept() -> Iterator[None]:
    """``breakpoint()`` comes here by way of pytest, which suspends its capture; debugpy would take it."""
    hook = sys.breakpointhook
    try:
        yield
    finally:
        sys.breakpointhook = hook
