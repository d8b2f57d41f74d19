"""Steps that cross between Python and native code while an IDE has debugpy and gdb side by side, each a session.

*Step into* of the Python half stops in native code too: the program says when it begins and ends, and in between there
is a trap at every native function of the user's. *Step out* of the gdb half (``finish``) goes on to the user's code
that called, in either language; where that is Python, debugpy stops there.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import own_thread
from pyharness.ingdb.calls import agent
from pyharness.ingdb.functions.known_functions import is_own
from pyharness.ingdb.stack.interpreter_loop import runs_python
from pyharness.ingdb.stops import every_function
from pyharness.model.errors import HarnessError
from pyharness.protocol.agent import ArmNextLine

if TYPE_CHECKING:
    import socket

_MAX_FRAMES = 1000
_DONE = b"."


def serve(program: socket.socket) -> None:
    """Do what the program asks for on this stream, until it ends."""
    gdb.events.stop.connect(lambda _event: every_function.disarm())  # the first stop ends the step
    own_thread.start(_listen, program)
    _Finish()


def _listen(program: socket.socket) -> None:
    with program, program.makefile("rb") as lines:
        for line in lines:
            gdb.post_event(functools.partial(_do, program, line))


def _do(program: socket.socket, wanted: bytes) -> None:
    """In gdb's own thread, while the program runs and waits for the answer."""
    if wanted == b"into\n":
        every_function.plant()
    else:
        every_function.disarm()
    program.sendall(_DONE)


class _Finish(gdb.Command):
    """finish: go on until the selected function has returned to your own code, in either language (ph-meet)."""

    def __init__(self) -> None:
        super().__init__("finish", gdb.COMMAND_RUNNING)

    def invoke(self, _argument: str, _from_tty: bool) -> None:  # noqa: FBT001  (gdb's signature)
        caller = _caller(gdb.selected_frame())
        if caller is None:
            _arm_python()
        else:
            every_function.plant_at(caller.pc())
        gdb.execute("continue&")


def _caller(frame: gdb.Frame) -> gdb.Frame | None:
    """The user's native frame that called ``frame``, ``None`` where it was Python."""
    pc, older = frame.pc(), frame.older()
    for _ in range(_MAX_FRAMES):
        if older is None or runs_python(older):
            return None
        if older.pc() != pc and is_own(older):  # what is inlined here has the same pc
            return older
        older = older.older()
    return None


def _arm_python() -> None:
    """Have debugpy stop at the next line of the Python function that called."""
    if not agent.call(ArmNextLine()):
        raise HarnessError("No Python debugger is in this program.", "Go on with Continue.")
