"""What an editor asks for at each native stop: gdb reads it while the editor still draws what it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.protocol import mi

if TYPE_CHECKING:
    from pyharness.dap.session import Session


class LookingAhead:
    """Tells an editor by what it asks for; a client that only steps is not made to wait for what it does not look at.

    An editor opened a frame at the last stop: it will read the stack of this one. It asks for the threads, then for the
    stack: next it will open a frame.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._opened = False
        """The client has opened a frame at the stop that it was told of last."""
        self._draws = False
        """The client has asked for the threads at this stop, and gdb was not asked for a frame yet."""

    def stopped(self) -> None:
        """The client was told of a stop: have the stack read."""
        focus, native = self._session.focus(), self._session.require_program().native
        opens, self._opened, self._draws = self._opened, False, False
        if opens and native is not None and focus.language == "native":
            native.look_ahead(mi.Stack(focus.thread))

    def asked_threads(self) -> None:
        """The client has asked for the threads."""
        self._draws = True
        self.read_frame()

    def read_frame(self) -> None:
        """Have the frame read that an editor opens by itself, once the stack is known: the first one with source."""
        shell = self._session.require_program()
        focus = shell.machine.focus
        stack = self._session.frames.stacks.get(focus.thread) if focus and focus.language == "native" else None
        if not self._draws or not stack or shell.native is None:
            return
        self._draws = False
        shown = next((each for each in stack if each.frame.file and not each.frame.plumbing), None)
        if shown is not None:
            shell.native.look_ahead(mi.Scopes(shown.thread, shown.level))

    def opened_frame(self) -> None:
        """The client has opened a frame."""
        self._opened, self._draws = True, False
