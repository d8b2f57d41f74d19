"""What is heard and noted while a script waits for its program's next stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.listener import Listener

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.breaking.breakpoints import Breakpoints
    from pyharness.protocol.channel import Child


class Heard(Listener):
    """What a program under the Python API is heard of while somebody waits for its next stop."""

    def __init__(self, note: Callable[[str], None], on_child: Callable[[Child], None] | None) -> None:
        self._note = note
        self._on_child = on_child or (lambda _child: None)
        self.to: dict[Breakpoint, Callable[[str], object]] = {}
        """Log point → who takes its lines."""

    def logged(self, breakpoint_: Breakpoint, text: str) -> None:
        """Hand on what a log point printed."""
        self.to[breakpoint_](text)

    def output(self, text: str, category: str) -> None:
        """Note what is wrong with a log point's condition."""
        if category == "important":
            self._note(text.rstrip("\n"))

    def child(self, child: Child) -> None:
        """Hand on a child process."""
        self._on_child(child)


class Missing:
    """Notes, whenever that has changed, what lacks a place that is waited for."""

    def __init__(self, place: Breakpoint, breakpoints: Breakpoints, note: Callable[[str], None]) -> None:
        self._place = place
        self._breakpoints = breakpoints
        self._note = note
        self._noted = ""

    def __call__(self) -> None:
        """Note it now, where there is something new."""
        text = self._breakpoints.reasons.so_far(self._place)
        if text and text != self._noted:
            self._note(f"Still waiting for {self._place}. {text}")
        self._noted = text
