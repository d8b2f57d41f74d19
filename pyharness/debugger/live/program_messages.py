"""What the program says on its channel, and what it is answered; it waits for each answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.debugger.starting.launch import undebuggable
from pyharness.model.errors import HarnessError
from pyharness.protocol.channel import (
    AddedLibrary,
    Child,
    Ended,
    Ends,
    Failed,
    FirstLibrary,
    Generated,
    Go,
    Hello,
    Library,
    Message,
    OpReached,
    Ready,
    Unfiled,
    Welcome,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.listener import Listener
    from pyharness.debugger.live.libraries import Libraries
    from pyharness.debugger.live.lifetime import Lifetime
    from pyharness.debugger.live.op_stops import OpStops
    from pyharness.debugger.shell import Shell
    from pyharness.model.user_code import UserCode


class ProgramMessages:
    """Takes one message after the other; ``refused``: a message whose answer waits until an error was told."""

    def __init__(
        self,
        shell: Shell,
        listener: Listener,
        lifetime: Lifetime,
        libraries: Libraries,
        op_stops: OpStops,
        user_code: UserCode,
        refused: Callable[[Message[Any]], None],
    ) -> None:
        self._shell = shell
        self._listener = listener
        self._lifetime = lifetime
        self._libraries = libraries
        self._op_stops = op_stops
        self._user_code = user_code
        self._refused = refused
        self.debug_kernels = False
        """Whether torch.compile is to build its kernels for debugging."""
        self.overwritten = False
        """Whether the program is to watch the tensors that autograd saves."""

    def take(self, message: Message[Any]) -> None:
        """The program says something; ``Ready`` is answered later, by the first request of the client's."""
        match message:
            case Hello():
                self._begin(message)
            case Ready():
                self._shell.ready, self._shell.asks_to_start = True, message
                self._listener.ready()
            case Child():
                self._listener.child(message)
            case Failed(error):
                raise undebuggable(error, self._shell.process.pid)
            case OpReached():
                process = self._shell.process
                process.answer(
                    Go(self._op_stops.announced(message, process.surroundings.thread(message.thread))), message
                )
            case Ends():
                self._lifetime.ending = True
            case _:
                self._noted(message)

    def _begin(self, hello: Hello) -> None:
        """Both debuggers are begun; the program is told how it is debugged."""
        shell, process = self._shell, self._shell.process
        link = process.debugpy(hello)  # from now on it knows the program's own process
        self._lifetime.begins(hello, process.pid)
        shell.lack, shell.breakpoints.rank = hello.lack, hello.rank
        package = f"{process.packages['pyharness']}/pyharness"
        shell.python.connect(link, process.pid, package, self._user_code, hello.stdlib)
        shell.python.number_of = process.surroundings.thread
        door = process.children.told if process.children else None
        seconds, patterns = shell.python.asking.seconds, self._user_code.patterns
        wanted = Welcome(process.packages, seconds, patterns, door, self.debug_kernels, self.overwritten)
        process.answer(wanted, hello)

    def _noted(self, message: Message[Any]) -> None:
        try:
            self._note(message)
        except HarnessError:  # is told first; where the session goes on, the program does
            self._refused(message)
            raise
        self._shell.process.answer(Go(), message)

    def _note(self, message: Message[Any]) -> None:
        """Take what the program tells; it waits until that is done."""
        breakpoints = self._shell.breakpoints
        match message:
            case Ended():
                self._lifetime.ending = True
                breakpoints.reasons.ended = message
                if self._shell.native:
                    breakpoints.look_in_others(self._shell.native)
            case Unfiled(why):
                breakpoints.reasons.unfiled = why
            case Generated(file, kernels):
                breakpoints.generated(file, kernels)
                self._libraries.generated()
            case FirstLibrary():
                self._libraries.begins()
            case Library(path):
                self._libraries.loaded(path)
            case AddedLibrary():
                self._libraries.added_by_others()
