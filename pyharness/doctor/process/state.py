"""A process: whether it runs, whether it is ours, and whether a debugger may attach to it."""

from __future__ import annotations

import os
import pwd
from typing import TYPE_CHECKING

from pyharness.debugger.starting import processes
from pyharness.doctor.machine import try_ptrace
from pyharness.doctor.process.live_process import process_checks
from pyharness.doctor.registry import Area
from pyharness.doctor.system.tracing_rules import tracing_rules
from pyharness.gdbmi.client import find_gdb
from pyharness.host.process_state import lives_on
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.process.live_process import LiveProcess
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("process")
_LONGEST = 100
_START = "Start it with `pyharness run` or `pyharness step`"
_ALLOW = "allow it until the next boot by `sudo sysctl -w kernel.yama.ptrace_scope=0`, or attach as root"


@process_checks.add(AREA, "process")
def state(process: LiveProcess) -> Iterator[Diagnosis]:
    """Whether it runs."""
    name = f"Process {process.pid} ({process.command[:_LONGEST]})"
    letter = process.status.get("State", "?")[:1]
    if thread := lives_on(process.pid):
        seen = f"The main thread of {name[:1].lower()}{name[1:]} has ended, and others run on."
        yield AREA.warning("process", seen, f"`pyharness stack {thread}` shows it, by the id of one; nothing attaches.")
    elif letter in "ZX":
        yield AREA.problem(
            "process", f"{name} has ended; its parent has not collected its exit status yet.", "Start it anew."
        )
    elif letter == "T":
        seen = f"{name} was stopped by a signal, as by Ctrl-Z."
        yield AREA.warning("process", seen, f"`kill -CONT {process.pid}` has it go on; a debugger can attach as it is.")
    else:
        yield AREA.ok("process", f"{name} runs as {_user(_owner(process))}.")


@process_checks.add(AREA, "harness")
def ours(process: LiveProcess) -> Iterator[Diagnosis]:
    """Whether our half is in it."""
    if process.handle:
        seen = f"It was started by `pyharness run` and has the handle {process.handle.name!r}."
        yield AREA.ok("harness", seen)
    elif any("/pyharness/_trap." in image.path for image in process.images):
        yield AREA.ok("harness", "pyharness's half is in it: it was started or visited by a debugger of ours.")
    else:
        seen = "It was not started by pyharness; gdb brings our half into it when a debugger attaches."
        yield AREA.inapplicable("harness", seen)


@process_checks.add(AREA, "ptrace")
def permission(process: LiveProcess) -> Iterator[Diagnosis]:
    """Whether a debugger may attach: asked of the kernel by opening its memory, which stops nothing."""
    try:
        processes.check(process.pid)
    except HarnessError as error:
        yield AREA.failed("ptrace", error)
        return
    try:
        process.memory()
    except OSError as error:
        yield _refused(process, error.errno or 0)
        return
    failed = try_ptrace()["from_the_parent"]
    if failed:
        reason, remedy = tracing_rules().reason(failed)
        yield AREA.problem("ptrace", f"Nothing can be attached to from here: {reason}.", remedy)
        return
    yield AREA.ok("ptrace", "A debugger can attach to it, and none has yet.")


@process_checks.add(AREA, "gdb")
def gdb(_process: LiveProcess) -> Iterator[Diagnosis]:
    """Whether there is a gdb, without which no debugger attaches to native code."""
    try:
        path = find_gdb()
    except HarnessError as error:
        yield AREA.failed("gdb", error)
        return
    yield AREA.ok("gdb", f"gdb is there ({path}).")


def _refused(process: LiveProcess, number: int) -> Diagnosis:
    rules = tracing_rules()
    owner = _owner(process)
    if rules.yama == 1 and process.handle:
        seen = "It lets in the debugger that comes by its handle (kernel.yama.ptrace_scope is 1)."
        return AREA.ok("ptrace", seen)
    if owner != os.geteuid():
        seen = f"It belongs to {_user(owner)}, and this is {_user(os.geteuid())} without CAP_SYS_PTRACE."
        return AREA.problem("ptrace", seen, f"Attach as {_user(owner)}. {rules.reason(number)[1]}")
    if rules.yama == 1:
        seen = "pyharness did not start it, and only parents may attach (kernel.yama.ptrace_scope is 1)."
        return AREA.problem("ptrace", seen, f"{_START}, or {_ALLOW}.")
    if _capabilities(process.status) & ~_capabilities(processes.status(os.getpid())):
        seen = "It has capabilities that this command has not, and only CAP_SYS_PTRACE stands above that."
        return AREA.problem("ptrace", seen, rules.reason(number)[1])
    if process.proc.stat().st_uid != owner or not try_ptrace()["from_a_stranger"]:
        seen = "It refuses what others allow: it changed its user, or lets nobody attach (PR_SET_DUMPABLE)."
        return AREA.problem("ptrace", seen, "Attach as root, with CAP_SYS_PTRACE.")
    reason, remedy = rules.reason(number)
    return AREA.problem("ptrace", f"A debugger may not attach to it: {reason}.", remedy)


def _capabilities(status: dict[str, str]) -> int:
    return int(status.get("CapPrm", "0"), 16)


def _owner(process: LiveProcess) -> int:
    return int(process.status.get("Uid", "0").split()[0])


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
