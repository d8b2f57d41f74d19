"""What the kernel's own files say about who may trace whom: Yama, capabilities, seccomp, containers."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from pyharness.debugger.starting.processes import refused_by_yama, yama_scope

_CAP_SYS_PTRACE = 19
_FILTER = 2
_CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv")
_CONTAINER_OPTIONS = (
    "start it with `--cap-add=SYS_PTRACE`, and `--security-opt seccomp=unconfined` if that is not enough"
)


@dataclass(frozen=True)
class TracingRules:
    """What holds for this process and what it starts."""

    yama: int
    """``kernel.yama.ptrace_scope``; 0 where the kernel has no Yama."""
    capability: bool
    """Whether this process has CAP_SYS_PTRACE."""
    filtered: bool
    """Whether a seccomp filter looks at its system calls."""
    container: bool
    root: bool
    bounding: bool = False
    """Whether root has CAP_SYS_PTRACE here: what a container is given does not reach its other users."""

    def reason(self, number: int) -> tuple[str, str]:
        """Why an attach failed with this errno, as far as can be known, and what to do about it."""
        refused = refused_by_yama(self.yama)
        if refused and not self.capability:
            return refused.message.removesuffix("."), refused.remedy
        if self.filtered and number in {errno.EPERM, errno.EACCES, errno.ENOSYS}:
            where = "In a container, " if self.container else "Run it outside of the sandbox; in a container, "
            return "a seccomp filter is on, which can forbid ptrace", f"{where}{_CONTAINER_OPTIONS}."
        if self.container and self.bounding and not self.capability:
            seen = "this user has no CAP_SYS_PTRACE; of a container only root has what `--cap-add` gives"
            return seen, "Run pyharness as root of the container: `docker exec -u 0 -it CONTAINER ...`."
        if self.container and not self.capability:
            return "this is a container without CAP_SYS_PTRACE", f"For the container: {_CONTAINER_OPTIONS}."
        remedy = "Ask whoever administers this machine which security module (SELinux, AppArmor) forbids ptrace."
        return f"the kernel said {os.strerror(number)!r}, and not why", remedy

    def loosened(self) -> str:
        """How to attach to what pyharness did not start, under Yama's ptrace_scope 1."""
        allow = "`sudo sysctl -w kernel.yama.ptrace_scope=0` until the next boot"
        if not self.container:
            return f"{allow}, or attach as root."
        start = "" if self.bounding else ", after starting it with `--cap-add=SYS_PTRACE`"
        return f"{allow}, on the container's host, or attach as root of the container{start}."


def tracing_rules() -> TracingRules:
    """Read them."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines()
    status = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return TracingRules(
        yama=yama_scope(),
        capability=_may_trace(status.get("CapEff", "0")),
        filtered=int(status.get("Seccomp", "0")) == _FILTER,
        container=any(Path(path).exists() for path in _CONTAINER_FILES) or "container" in os.environ,
        root=os.geteuid() == 0,
        bounding=_may_trace(status.get("CapBnd", "0")),
    )


def _may_trace(capabilities: str) -> bool:
    return bool(int(capabilities, 16) >> _CAP_SYS_PTRACE & 1)
