"""Why a process cannot be traced, in words of its owner: it has ended, is debugged already, or is somebody else's."""

from __future__ import annotations

import os
import pwd
import re
from pathlib import Path

from pyharness.host.loader import is_loader, words_of
from pyharness.host.process_state import debugger_of, is_kernel_thread
from pyharness.model.errors import HarnessError

_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
_YAMA_REMEDIES = {
    1: "The kernel lets only a parent trace (kernel.yama.ptrace_scope is 1). Start the program with pyharness, or allow"
    " it once with `sudo sysctl -w kernel.yama.ptrace_scope=0`, or be root.",
    2: "The kernel lets only root trace (kernel.yama.ptrace_scope is 2): be root.",
    3: "This kernel forbids tracing until it is booted again (kernel.yama.ptrace_scope is 3).",
}
_USERS = (
    "This command is in a user namespace, as in a rootless container, which has no rights over what was not started in"
    " it: be in that program's container, or outside of both."
)
_TRACED = re.compile(r"already traced by process (\d+)")
"""In what gdb says."""


class RefusedError(HarnessError):
    """A process that cannot be traced."""


class TracedError(RefusedError):
    """Another debugger has the process; ``is_reading`` where it is a pyharness that will be gone in a moment."""

    def __init__(self, pid: int, tracer: int) -> None:
        self.is_reading = tracer != debugger_of(pid)
        by = f"{_command(tracer)}, pid {tracer}"
        if self.is_reading and _status(tracer):
            super().__init__(f"Process {pid} is being read by another pyharness for a moment ({by}).", "Try again.")
            return
        super().__init__(
            f"Process {pid} is being debugged already, by {_command(tracer)} (pid {tracer}).",
            "A process has at most one debugger: detach or end that one first.",
        )


def check(pid: int) -> None:
    """Refuse a process that cannot be traced, with the reason; silent about what only the kernel knows."""
    status = _status(pid)
    if not status or status.get("State", "").startswith(("Z", "X")):
        raise RefusedError(f"There is no running process {pid}.", "It has ended, or the number is a wrong one.")
    if is_kernel_thread(pid):
        raise RefusedError(f"Process {pid} is a thread of the kernel: it runs no program.", "Name another process.")
    tracer = int(status.get("TracerPid", "0"))
    if tracer:
        raise TracedError(pid, tracer)


def explained(pid: int, text: str) -> RefusedError | None:
    """Why the kernel refused it, from what it said to us or to gdb; ``None`` where that does not tell."""
    try:
        check(pid)
    except RefusedError as reason:
        return reason
    if by := _TRACED.search(text):  # it has gone meanwhile
        return TracedError(pid, int(by[1]))
    if "not permitted" not in text and "denied" not in text:
        return None
    return RefusedError(f"No permission to attach to process {pid}.", _permission_remedy(pid))


def _permission_remedy(pid: int) -> str:
    owner = int(_status(pid).get("Uid", f"{os.getuid()}").split()[0])
    if os.geteuid() not in {owner, 0}:
        return f"It belongs to {_user(owner)} and you are {_user(os.geteuid())}: be that user, or root."
    try:
        scope = int(_YAMA.read_text(encoding="ascii"))
    except (OSError, ValueError):
        scope = 0
    if _in_user_namespace():
        return _USERS
    in_container = "In a container, start it with --cap-add=SYS_PTRACE; a setuid program can be traced by root only."
    return in_container if os.geteuid() == 0 and scope < 3 else _YAMA_REMEDIES.get(scope, in_container)


def _in_user_namespace() -> bool:
    try:
        return Path("/proc/self/uid_map").read_text(encoding="ascii").split() != ["0", "0", "4294967295"]
    except OSError:
        return False


def _status(pid: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _command(pid: int) -> str:
    name = _status(pid).get("Name", "another program")
    return Path(next(iter(words_of(pid)), name)).name if is_loader(name) else name


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
