"""Places at ops and autograd nodes: the program's own C++ tests them, and stops in a function that gdb breaks on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pyharness.protocol.agent import SetOpPlaces
from pyharness.protocol.mi import Break

if TYPE_CHECKING:
    from pyharness.debugger.shell import Shell
    from pyharness.protocol.agent import OpPlace
    from pyharness.protocol.channel import OpReached


class OpStops:
    """The controller's half of native breakpoints; ``debuggee/op_places.py`` is the program's."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._at: dict[int, str] = {}
        """The place of a thread that is about to call the trap."""
        self._trap = 0
        """gdb's number of the breakpoint there."""

    def announced(self, message: OpReached) -> bool:
        """An op or a node is about to stop the program: whether it shall; gdb is there then, and breaks on the trap."""
        place, shell = message.place, self._shell
        if place and place not in shell.breakpoints.names:  # it was removed meanwhile
            return False
        native = shell.attach()
        if not self._trap:
            (self._trap,) = native.ask(Break(address=message.trap)).numbers
            shell.breakpoints.place_of_number[self._trap] = ""
        self._at[message.thread] = place
        return True

    def place_of(self, number: int, thread: int) -> str | None:
        """The place at which a thread has stopped, by gdb's breakpoint; ``None`` where that is not the trap."""
        return self._at.pop(thread, "") if number == self._trap else None

    def tell(self, places: tuple[OpPlace, ...]) -> None:
        """Have the program stop at exactly these from now on."""
        shell, request = self._shell, SetOpPlaces(places)
        focus = shell.machine.focus
        if focus is None or focus.language == "python" or shell.native is None:
            asked = json.dumps(request.to_json())
            call = f"__import__('pyharness.debuggee.op_places', fromlist=['*']).replace_from({asked!r})"
            shell.python.request_in_time("evaluate", {"expression": call, "context": "repl"})
        elif focus.reason != "signal":  # nothing is called on a thread that has crashed
            shell.ask_agent(focus.thread, request)
