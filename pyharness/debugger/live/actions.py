"""Does what the state machine says: with debugpy, with gdb, and with the agent on the stopped thread itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.action import (
    AgentArm,
    AgentDisarm,
    Arm,
    ArmReturn,
    Disarm,
    Leave,
    Native,
    Python,
    Start,
)
from pyharness.debugger.live.agent import ElsewhereError, GilBlockedError, GilHeldError
from pyharness.debugger.merged_stack import owner_frames
from pyharness.debugger.native.in_program.calls import CallRunsError
from pyharness.model.errors import HarnessError
from pyharness.protocol.agent import ArmNextLine, ArmStepIn
from pyharness.protocol.agent import Disarm as ForgetStep
from pyharness.protocol.channel import Go
from pyharness.protocol.mi import Armed, Caller, FindCaller

if TYPE_CHECKING:
    from pyharness.debugger.action import Action
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.shell import Shell
    from pyharness.protocol.agent import Request
    from pyharness.protocol.question import Answer


class Actions:
    """The hands of the machine, and what they have set up for a step."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self.armed = Armed()
        """What the last *into* armed."""
        self._stepping_into = 0
        """The thread that *into* has armed."""
        self._depth: dict[int, int] = {}
        """How many frames of the user's own Python code a thread had when the agent armed it."""

    @property
    def wants_native(self) -> bool:
        """Whether a step is on its way into native code, of which there is none yet."""
        return bool(self._stepping_into)

    def forgets_native(self) -> None:
        """There will be no native code to step into."""
        self._stepping_into = 0

    def arm_again(self, native: NativeSide) -> None:
        """More of the user's native code was loaded: a step on its way stops there too."""
        if self._stepping_into:
            self.armed = native.stops.arm(self._stepping_into)

    def depth_before(self, thread: int) -> int:
        """How many frames of the user's Python a thread had when the agent armed it, once; 0 where it did not."""
        return self._depth.pop(thread, 0)

    def perform(self, actions: list[Action], *, has_libraries: bool) -> None:
        """Do them in their order; ``has_libraries``: there is native code of the user's."""
        shell = self._shell
        for action in actions:
            match action:
                case Start(stop):
                    shell.process.answer(Go(stop), shell.asks_to_start)
                case Python(thread, command):
                    shell.python.resume(thread, command)
                case Arm(thread) if shell.native is None and not has_libraries:
                    self.armed, self._stepping_into = Armed(), thread  # nothing to arm, unless a library comes
                case Disarm() if shell.native is None:
                    self._stepping_into = 0
                case ArmReturn(_) if shell.native is None:
                    pass
                case _:
                    self._with_gdb(action, shell.attach())

    def _with_gdb(self, action: Action, native: NativeSide) -> None:
        match action:
            case Arm(thread):
                self.armed, self._stepping_into = native.stops.arm(thread), thread
            case ArmReturn(thread):
                if native.arm_return(thread, self._shell.python.stdlib):
                    self._shell.machine.returns_to_native(thread)
            case Disarm():
                self._stepping_into, focus = 0, self._shell.machine.focus
                native.stops.disarm(focus.thread if focus and focus.language == "native" else 0)
            case Native(thread, command):
                native.threads.step(thread, command)
            case Leave(thread, pending):
                self._leave(native, thread, pending=pending)
            case AgentArm(thread):
                self._arm_python(native, thread)
            case AgentDisarm(thread):
                self._forget_python_step(native, thread)

    def _arm_python(self, native: NativeSide, thread: int) -> None:
        """Have debugpy stop where the step falls off the end of the native code, or calls Python."""
        try:
            self._depth[thread] = self._armed_by(ArmStepIn(), thread) or 0
        except (GilBlockedError, ElsewhereError):
            return  # nothing of the main interpreter's runs meanwhile
        except GilHeldError as error:  # several threads of a kernel have come to one place
            try:
                frames = native.stack(thread)
            except CallRunsError:
                raise error from None
            if any(frame.language == "python" for frame in frames):
                raise

    def _armed_by(self, request: Request[Answer], thread: int) -> Answer | None:
        """Have debugpy stop; where it cannot be told, nobody would hear of the step's end."""
        if lack := self._shell.lack:
            raise HarnessError(
                f"No step can end in Python from here: {lack}.",
                "Continue to a place in Python (`py:FILE:LINE`), or install pyharness in the program's environment.",
            )
        return self._shell.ask_agent(thread, request)

    def _forget_python_step(self, native: NativeSide, thread: int) -> None:
        if native.asking.calls.disarms(thread):
            return
        try:
            self._shell.ask_agent(thread, ForgetStep())
        except ElsewhereError:
            return
        except GilHeldError:
            self._shell.machine.cannot_disarm(thread)

    def _leave(self, native: NativeSide, thread: int, *, pending: bool) -> None:
        """Run on to the user's code that called: their native frame, or the next line of their Python."""
        caller = native.caller(thread)
        if caller.language == "native":
            if not pending:
                self.perform(self._shell.machine.leaves_for_native(thread), has_libraries=True)
            native.threads.finish(thread, caller.level)
            return
        if caller.language == "python" and not pending:
            self._depth.pop(thread, None)
            self._shell.machine.leaves_for_python(thread)
            self._armed_by(ArmNextLine(), thread)
        if caller.language == "none":
            self._leave_for_owner(native, thread)
        native.threads.step(thread, "continue")  # no handler out there is a part of this step

    def _leave_for_owner(self, native: NativeSide, thread: int) -> None:
        """Have the thread for which another one works stop where it goes on, if it only waits for that."""
        machine = self._shell.machine
        waiting = owner_frames(self._shell, native, thread)
        if not waiting or waiting[0].thread in machine.standing:
            return
        owner, level = waiting[0].thread, waiting[0].level

        def find() -> Caller:
            caller = native.ask(FindCaller(owner))
            if caller.language == "python":
                self._armed_by(ArmNextLine(), owner)
            elif caller.level < level:  # it runs its own part of the work
                return Caller("none")
            return caller

        def go_on(caller: Caller) -> None:
            if caller.language == "native":
                native.threads.finish(owner, caller.level)
            else:
                native.threads.resume(owner)

        found = native.threads.held(owner, find, go_on)
        if found and found.language != "none":
            machine.leaves_for_owner(thread, owner, is_python=found.language == "python")
