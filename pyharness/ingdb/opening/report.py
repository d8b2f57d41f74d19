"""What runs in a gdb of its own and answers as JSON on a file descriptor: every thread's stack, or an injection."""

from __future__ import annotations

import ctypes
import json
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import gdb

from pyharness.host.process_state import is_stopped, let_go_on
from pyharness.ingdb import console, torch_process
from pyharness.ingdb.opening import attach, inject
from pyharness.ingdb.opening.core_file import open_core
from pyharness.ingdb.printers import known
from pyharness.ingdb.process.libraries import find_library
from pyharness.ingdb.stack import backtrace, unwritten
from pyharness.ingdb.stops.fatal_signal import Sent, explained
from pyharness.model.codec import encode
from pyharness.model.errors import HarnessError
from pyharness.model.plumbing import SIGNAL_HANDLER
from pyharness.reading.collectives import layout as layouts
from pyharness.reading.collectives.record import hold, record_of
from pyharness.reading.process.memory import Memory
from pyharness.reading.stack.interrupted import of_handlers

if TYPE_CHECKING:
    from pyharness.model.threads import ThreadStack

_PR_SET_PDEATHSIG = 1


def report(request: dict[str, Any], descriptor: int) -> None:
    """Open ``request["pid"]`` or ``request["core"]`` and write the answer; an error is an answer too.

    With ``request["crash"]``, a signal whose handler runs on ``request["thread"]``, that thread comes first, with its
    variables, and what the signal means. With ``request["code"]`` it is brought into the program (``inject``), else the
    stacks are the answer.
    """
    stopped_before = is_stopped(request["pid"])
    try:
        _end_with_parent(request["parent"])
        answer = _answer(request)
    except (HarnessError, gdb.error, gdb.GdbError) as error:
        message, _, remedy = str(error).partition("\n")
        answer = {"error": {"message": message, "remedy": remedy}}
    finally:
        with suppress(gdb.error):  # not attached
            console.run("detach")
        let_go_on(request["pid"], stopped_before=stopped_before)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(answer, stream)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    if request.get("code"):
        return inject.inject(request)
    if request["variables"]:
        known.register()
    if request["core"]:
        open_core(request["core"])
    else:
        attach.attach(request["pid"], non_stop=False)
    stacks = backtrace.all_threads(request["limit"], variables=request["variables"], only=request["thread"])
    crash = request.get("crash")
    if crash:
        stacks += [one for one in backtrace.all_threads(request["limit"]) if one.lwp != request["thread"]]
    stacks = backtrace.owned(stacks)
    return {
        "signal": _signal(stacks[0], Sent(**crash)) if crash else None,
        "rank": _rank() if request.get("rank") else None,
        "threads": [stack.to_json() for stack in stacks],
        "sources": unwritten.news(),
        "known": [thread.ptid[1] for thread in gdb.selected_inferior().threads()],
    }


def _signal(stack: ThreadStack, sent: Sent) -> dict[str, Any]:
    """What a signal means whose handler runs on a thread."""
    inside = of_handlers(stack.frames)
    handlers = sum(frame.function == SIGNAL_HANDLER for frame in stack.frames[:inside])
    next(each for each in gdb.selected_inferior().threads() if each.ptid[1] == stack.lwp).switch()
    frame = gdb.newest_frame()
    while handlers and (older := frame.older()) is not None:
        handlers -= frame.type() == gdb.SIGTRAMP_FRAME
        frame = older
    found: dict[str, Any] = encode(explained(sent, frame, inside=inside))
    return found


def _rank() -> dict[str, Any]:
    """What a rank of a distributed job has called of its process groups."""
    version, python = torch_process.torch_version(), backtrace.current_python()
    layout = layouts.for_version(version)
    held = hold(Memory(torch_process.read), find_library, layout)
    return {"record": record_of(held, python, layout).to_json(), "torch": version or ""}


def _end_with_parent(parent: int) -> None:
    """Let the kernel interrupt this gdb when the harness is killed: it gives up what it does, ends and detaches.

    SIGTERM would wait until Python has returned, SIGKILL would leave the process stopped.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
    if os.getppid() != parent:  # too late: it is gone already
        raise HarnessError("The pyharness that asked has gone.")
