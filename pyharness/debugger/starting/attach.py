"""A running program to attach to: by handle, by process id, or by a part of its command line."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from pyharness.debugger.starting import processes
from pyharness.debugger.starting.attached import Attached, Way
from pyharness.debugger.starting.launch import packages
from pyharness.host import handles
from pyharness.host.process_state import is_stopped
from pyharness.host.surroundings import Surroundings
from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyharness.host.handles import Handle
    from pyharness.protocol.channel import Message


@frozen
class Attachment:
    """What to attach to; a ``debugger.starting.target.Target``."""

    target: str
    """A handle, a process id, or a part of a command line."""
    children: bool = False
    """Whether child processes shall call in; see ``ChildProcesses``."""
    ranks: tuple[int, ...] | None = None
    """The ranks of a job that shall, of all that it starts; none of them for all, ``None`` for every child."""
    child_wait: float = 10.0
    """Seconds that a child waits for its debugger."""
    seconds: float = 15.0
    """How long the program may take to answer: native code may keep the GIL."""
    progress: Callable[[str], None] = field(default=lambda _text: None, compare=False)
    script: str = ""
    python: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    module: bool = False
    file: str = ""
    debug_kernels: bool = False
    """Whether torch.compile is to build the kernels that it compiles from now on for debugging."""
    overwritten: bool = False
    """Whether the program stops where it writes into a tensor that autograd saved."""
    ours: bool = False

    def check(self) -> None:
        """Raise what can be said beforehand: there is no such program, or its stop would be ours."""
        found = find(self.target)
        processes.check_apart(found if isinstance(found, int) else found.pid)

    def start(self, on_message: Callable[[Message[Any]], None], on_exit: Callable[[int], None]) -> Attached:
        """Connect, after our half was brought into a program that was not started by us."""
        found = find(self.target)
        if isinstance(found, int):
            _require_running(found)
            self.progress("bringing the debugger into the program")
            way: Handle | Way = _brought(found, self.seconds)
        else:
            way = found
        child_wait = self.child_wait if self.children else None
        if child_wait is not None and isinstance(way, Way):
            child_wait = None
            self.progress("child processes are not debugged: they cannot call in from other surroundings, a container")
        process = Attached(way, on_message, on_exit, seconds=self.seconds, child_wait=child_wait, ranks=self.ranks)
        if process.hello.lack:
            self.progress(f"steps from native code back to Python are not to be had: {process.hello.lack}")
        return process


def _brought(pid: int, seconds: float) -> Handle | Way:
    """Bring our half into a process, by the means that its surroundings leave."""
    from pyharness.debugger.starting.attach_inject import inject  # what starts programs need not wait for these
    from pyharness.debugger.starting.hand_over import hand_over

    where = Surroundings(pid)
    try:
        shared = where.sees("processes") and where.sees("network") and all(map(where.same_file, packages().values()))
        shared = shared and where.has_proc
    except OSError:  # it may not be looked at: gdb says why
        shared = True
    return inject(pid, seconds) if shared else hand_over(where, seconds)


def _require_running(pid: int) -> None:
    if is_stopped(pid):
        raise HarnessError(
            f"Process {pid} is stopped by a signal, as by Ctrl-Z: it cannot run our Python code.",
            f"`kill -CONT {pid}` has it go on. `pyharness stack {pid}` shows where it stands.",
        )


def find(target: str) -> Handle | int:
    """The live handle of that name or process id, else the id of the one process that is meant."""
    live = handles.live()
    for handle in live:
        if target in {handle.name, str(handle.pid)}:
            return handle
    try:
        pid = processes.find(target)
    except UsageError as error:
        near = nearest(target, [handle.name for handle in live])
        raise UsageError(error.message, near or error.remedy) from None
    by_pid = next((handle for handle in live if handle.pid == pid), None)
    if by_pid is None:
        processes.check(pid)
    return by_pid or pid
