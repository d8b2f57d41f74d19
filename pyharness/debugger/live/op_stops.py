"""Places at ops and autograd nodes: the program's own C++ tests them, and stops in a function that gdb breaks on."""

from __future__ import annotations

import ast
import json
from collections import Counter
from typing import TYPE_CHECKING

from pyharness.model.conditions import hits as hit_condition
from pyharness.model.errors import HarnessError
from pyharness.protocol.agent import SetOpPlaces
from pyharness.protocol.mi import Break

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.shell import Shell
    from pyharness.protocol.agent import OpPlace
    from pyharness.protocol.channel import OpReached


class OpStops:
    """The controller's half of native breakpoints; ``debuggee/watched/op_places.py`` is the program's."""

    def __init__(self, shell: Shell, have_engine: Callable[[], None]) -> None:
        self._shell = shell
        self._have_engine = have_engine
        self._at: dict[int, Breakpoint | None] = {}
        """What stops a thread that is about to call the trap; ``None`` for a breakpoint of the program's own."""
        self._hits: Counter[Breakpoint] = Counter()
        self._trap = 0
        """gdb's number of the breakpoint there."""

    def announced(self, message: OpReached, thread: int) -> bool:
        """An op or a node is about to stop the program: whether it shall; gdb is there then, and breaks on the trap."""
        shell, reached = self._shell, self._shell.breakpoints.of_op(message.place)
        if message.place and (reached is None or not self._is_due(reached)):  # or it was removed meanwhile
            return False
        native = shell.attach()
        if not self._trap:
            (self._trap,) = native.ask(Break(address=message.trap)).numbers
        self._at[thread] = reached
        return True

    def _is_due(self, reached: Breakpoint) -> bool:
        self._hits[reached] += 1
        return hit_condition.holds(reached.where.hits, self._hits[reached])

    def is_trap(self, number: int) -> bool:
        """Whether gdb's breakpoint ``number`` is the one in the function that the program calls to stop."""
        return number == self._trap > 0

    def at_trap(self, thread: int) -> Breakpoint | None:
        """What has stopped a thread there."""
        return self._at.pop(thread, None)

    def tell(self, places: tuple[OpPlace, ...]) -> None:
        """Have the program stop at exactly these from now on."""
        if places:
            self._have_engine()
        shell, request = self._shell, SetOpPlaces(places)
        focus = shell.machine.focus
        if focus is None or focus.language == "python" or shell.native is None:
            asked = json.dumps(request.to_json())
            call = f"__import__('pyharness.debuggee.watched.op_places', fromlist=['*']).replace_from({asked!r})"
            said = shell.python.request_in_time("evaluate", {"expression": call, "context": "repl"})
            if problem := ast.literal_eval(said.get("result") or "[]"):
                raise HarnessError(problem[0], " ".join(problem[1:]))
        elif focus.reason != "signal":  # nothing is called on a thread that has crashed
            shell.ask_any(request)
