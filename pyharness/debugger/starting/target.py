"""What the core debugs: something that can be started or attached to, and the process that comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from pyharness.debugger.starting.child_processes import ChildProcesses
    from pyharness.host.surroundings import Surroundings
    from pyharness.protocol.channel import Go, Hello, Message, Welcome


class Process(Protocol):
    """A running program with its control channel; its messages and its end are told on threads of its own."""

    exit_code: int | None
    exit_known: bool
    """Whether ``exit_code`` is the program's: only a parent is sure to hear it, and 0 stands for an unknown one."""
    packages: dict[str, str]
    """Where the program finds our packages."""
    surroundings: Surroundings
    """What the program sees otherwise than we do."""

    @property
    def pid(self) -> int:
        """Process id of the program."""

    @property
    def children(self) -> ChildProcesses | None:
        """The door for child processes, where they are to be debugged."""

    def debugpy(self, hello: Hello) -> socket.socket:
        """The connection that debugpy in the program will serve; ``hello`` is the program's first message."""

    def answer(self, answer: Welcome | Go, to: Message[Any]) -> None:
        """Let the program's thread that sent the message ``to`` go on."""

    def let_go(self) -> None:
        """Close the channel: the program never waits for us again."""

    def end(self, *, at_once: bool = False) -> None:
        """End the program."""

    def wait(self) -> int:
        """Wait for the program's end; its exit code, negative for a signal."""

    def close(self) -> None:
        """Give back the channel."""


class Target(Protocol):
    """What to debug; see ``launch.Command`` and ``attach.Attachment``."""

    @property
    def script(self) -> str:
        """The script or module; empty where none is known."""

    @property
    def file(self) -> str:
        """The file that is run, as its path is from here; empty where none is known."""

    @property
    def module(self) -> bool:
        """Whether ``script`` is a module's name."""

    @property
    def python(self) -> str:
        """The interpreter of the program, as far as it was named."""

    @property
    def env(self) -> Mapping[str, str]:
        """What the program's environment has beside this process's, as far as it is known."""

    @property
    def debug_kernels(self) -> bool:
        """Whether torch.compile is to build the kernels that it compiles from now on for debugging."""

    @property
    def overwritten(self) -> bool:
        """Whether the program stops where it writes into a tensor that autograd saved."""

    @property
    def ours(self) -> bool:
        """Whether the program ends with the debugging."""

    def check(self) -> None:
        """Raise what can be said before anything is started."""

    def start(self, on_message: Callable[[Message[Any]], None], on_exit: Callable[[int], None]) -> Process:
        """Start it, or attach to it."""
