"""What a function has returned that a step has just left, as the debuggers keep it while the thread stands."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.debugger.native.variables import NativeVariables
from pyharness.debugger.python.dap_client import RequestError
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.text.styled_line import Line, in_parts
from pyharness.model.text.visible import in_one_line
from pyharness.prompt.shown.values import literal
from pyharness.protocol.pydevd import RETURNED, RETURNED_BY

if TYPE_CHECKING:
    from pyharness.debugger.merged_stack import StackFrame
    from pyharness.debugger.shell import Shell

_WIDTH = 120


@frozen
class Returned:
    """A value, and the function that returned it."""

    function: str
    value: str

    def line(self, columns: int | None) -> Line:
        """Say it in one line of the terminal."""
        head = f"   {self.function}() returned "
        room = max(10, (columns or _WIDTH) - len(head) - 1)
        text = in_one_line(self.value)
        return in_parts((head, "faint"), (text if len(text) <= room else f"{text[: room - 1]}…", ""))


def returned(shell: Shell, top: StackFrame) -> Returned | None:
    """What was returned to where a thread stands; ``None`` where it has not come there by a return."""
    if top.debugpy is None:
        return _natively(shell, top)
    with suppress(RequestError):
        function, value = (
            shell.python.asking.ask("evaluate", {"expression": each, "frameId": top.debugpy, "context": "repl"})
            for each in (RETURNED_BY, RETURNED)
        )
        return Returned(literal(function["result"]), str(value["result"]) or "None")
    return None


def _natively(shell: Shell, top: StackFrame) -> Returned | None:
    """What a C++ function has returned: known after `out`, where gdb itself has run to the end of it."""
    came = shell.native.threads.callers.returned(top.thread) if shell.native else None
    if came is None or top.level < 0:
        return None
    with suppress(HarnessError):
        value = NativeVariables(shell.attach()).evaluate(top.thread, top.level, came.expression, whole=False)
        return Returned(came.function, value.value)
    return None
