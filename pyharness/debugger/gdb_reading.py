"""One gdb that looks into a process or a core file, answers and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debugger.core.header import check_core, truncated
from pyharness.gdbmi.client import NO_CORE, environment, find_gdb, hears_children
from pyharness.host.descriptors import streams_held
from pyharness.host.folders import working_folder
from pyharness.host.process_state import is_stopped, let_go_on
from pyharness.model.codec import decode
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.text.source_line import remember
from pyharness.model.threads import ThreadStack, thread_from_json
from pyharness.protocol.mi import SignalStop
from pyharness.reading.collectives.record import Record, record_from_json
from pyharness.reading.live.stacks import MAX_FRAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT = 120.0
"""Seconds; a process in an uninterruptible system call cannot be attached to."""
_LOAD = Path(__file__).parent.parent / "ingdb" / "load.py"
_PATIENCE = 5.0
_CUT = "Was the disk full, or the core limited (ulimit -c, ProcessSizeMax of systemd-coredump)? Make it again."


class StackDumpError(HarnessError):
    """The stacks could not be read."""


def dump_by_gdb(
    target: int | Path, *, thread: int | None, limit: int, variables: bool
) -> tuple[tuple[ThreadStack, ...], tuple[int, ...]]:
    """The threads of a process or a core file (or the one with kernel id ``thread``), and the kernel ids of all."""
    core = str(check_core(target, whole=False)) if isinstance(target, Path) else None
    request = {
        "pid": None if core else target,
        "core": core,
        "thread": thread,
        "limit": limit,
        "variables": variables,
        "parent": os.getpid(),
    }
    answer = _answer(request, target)
    return tuple(thread_from_json(one) for one in answer["threads"]), tuple(answer["known"])


@frozen
class Fault:
    """A signal whose handler runs on a thread (sigaction(2))."""

    thread: int
    """The kernel's id."""
    number: int
    code: int
    value: int
    """The address of a fault; of a signal that was sent, the sender's process id in the lower half."""


@frozen
class Death:
    """What gdb reads of a process that a signal is about to end."""

    threads: tuple[ThreadStack, ...]
    """The one of the signal comes first, with its variables."""
    signal: SignalStop


def death_by_gdb(pid: int, fault: Fault) -> Death:
    """The stacks of a process that waits in its own handler of a signal, and what the signal means."""
    sender = fault.value & 0xFFFFFFFF
    crash = {"number": fault.number, "code": fault.code, "sender": sender, "address": fault.value}
    settings = {"thread": fault.thread, "limit": MAX_FRAMES, "variables": True, "crash": crash}
    answer = ask_gdb({"pid": pid, "core": None, **settings, "parent": os.getpid()}, pid)
    threads = tuple(thread_from_json(one) for one in answer["threads"])
    return Death(threads, decode(SignalStop, answer["signal"], "signal"))


@frozen
class CoreRank:
    """A rank as its core file has it."""

    threads: tuple[ThreadStack, ...]
    record: Record
    torch: str
    """The version of its torch; empty where it has none."""


def rank_of_core(core: Path) -> CoreRank:
    """What gdb reads of a rank's core file."""
    whole = str(check_core(core, whole=False))
    settings = {"thread": None, "limit": MAX_FRAMES, "variables": False, "rank": True}
    answer = _answer({"pid": None, "core": whole, **settings, "parent": os.getpid()}, core)
    threads = tuple(thread_from_json(one) for one in answer["threads"])
    return CoreRank(threads, record_from_json(answer["rank"]["record"]), answer["rank"]["torch"])


def _answer(request: dict[str, Any], target: int | Path) -> dict[str, Any]:
    if not isinstance(target, Path):
        return ask_gdb(request, target)
    try:
        return ask_gdb(request, None)
    except StackDumpError as error:
        cut = truncated(target)
        if cut is None:
            raise
        raise StackDumpError(f"{cut.message} gdb can make nothing of that.", _CUT) from error


def ask_gdb(request: dict[str, Any], pid: int | None) -> dict[str, Any]:
    """Run gdb on a request (see ``ingdb/opening/report.py``); its answer. The process runs on, whatever happens."""
    with streams_held(), hears_children():
        reader, writer = os.pipe()
        code = f"from pyharness.ingdb.opening import report; report.report({request!r}, {writer})"
        process = subprocess.Popen(
            [find_gdb(), "-nx", "-q", "-batch", *NO_CORE, "-ex", f"source {_LOAD}", "-ex", f"python {code}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[writer],
            cwd=working_folder(),
            start_new_session=True,  # Ctrl-C is for us: we end gdb in order
            env={**environment(), "DEBUGINFOD_URLS": ""},
        )
    os.close(writer)
    stopped_before = is_stopped(pid)
    try:
        text = b"".join(_pieces(reader))
        complaint = process.communicate(timeout=_PATIENCE)[1]
    except subprocess.TimeoutExpired:
        complaint = b""
    finally:
        os.close(reader)
        _end(process, pid, stopped_before=stopped_before)
    try:
        answer: dict[str, Any] = json.loads(text)
    except ValueError:
        said = complaint.decode(errors="replace").strip().splitlines()[-3:]
        raise StackDumpError("gdb ended without an answer.", "\n".join(said)) from None
    if "error" in answer:
        raise StackDumpError(answer["error"]["message"], answer["error"]["remedy"])
    for file, source in answer.get("sources", {}).items():
        remember(file, source)
    return answer


def _pieces(reader: int) -> Iterator[bytes]:
    """What gdb writes, until it closes the pipe; ``StackDumpError`` when it takes too long."""
    import select

    deadline = time.monotonic() + TIMEOUT
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise StackDumpError(
                f"gdb did not answer within {TIMEOUT:.0f} s.",
                "Is the process in an uninterruptible system call (state D)? Then it cannot be stopped now.",
            )
        piece = os.read(reader, 1 << 16)
        if not piece:
            return
        yield piece


def _end(process: subprocess.Popen[bytes], pid: int | None, *, stopped_before: bool) -> None:
    """End gdb if it still runs, and have the process go on if gdb did not get to that."""
    # Interrupted it ends in order and detaches; terminated too, if no Python runs in it; killed it may leave a stop.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE)
    if process.stderr:
        process.stderr.close()
    let_go_on(pid, stopped_before=stopped_before)
