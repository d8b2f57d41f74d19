"""A stop of the test's own process, to assert on: a debugger beside it runs to a place, steps, reads and leaves."""

from __future__ import annotations

import json
import os
import socket
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pyharness.debuggee.link.ptracer import allow_ptrace
from pyharness.model.codec import decode, encode
from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.model.frozen import frozen
from pyharness.native.crash_watch import start_unseen, wait_for_unseen
from pyharness.protocol.observed import STEPS, Observed, Step, StopOfTest, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import TextIOWrapper
    from types import FrameType

_START = os.path.realpath(os.path.join(__file__, "../../debuggee/start.py"))  # noqa: PTH118
_NOT_THEIRS = ("LD_PRELOAD", "PYTHONINSPECT")
"""Variables that are meant for the program, and not for the process beside it."""
_LEAVES = 5.0
"""Seconds in which a debugger lets go of this process."""


@frozen
class TestStop(StopOfTest):
    """Where the test's process stood. It has run on since."""

    __test__ = False

    result: Any
    """What the function has returned."""


def stop_at(where: str, function: Callable[[], Any], then: Sequence[str] = ()) -> TestStop:
    """Run a function to a place, then step; what the debugger saw there. The test fails where it is not reached.

    Args:
        where: A place, as ``pyharness step --at`` takes it: ``native:rms_norm_cpu``, ``py:FILE:LINE``, ``fx:NODE``.
        function: What leads there. It runs in this thread, to its end.
        then: Steps from there: ``"into"``, ``"over"``, ``"out"``.

    """
    try:
        are_steps = isinstance(then, (list, tuple)) and all(isinstance(each, str) for each in then)
        if not isinstance(where, str) or not callable(function) or not are_steps:
            raise UsageError(
                f"ph_step takes a place, a function and a list of steps, not {where!r}, {function!r} and {then!r}.",
                'For example: ph_step("native:f", lambda: g(x), ["over"])',
            )
        with _traced_as_before():
            return _stop_at(where, function, tuple(map(_step, then)))
    except HarnessError as error:
        said = str(error)
    pytest.fail(said, pytrace=False)


@contextmanager
def _traced_as_before() -> Iterator[None]:
    """Give back what traces this thread, coverage say: the debugger takes its place, and leaves nothing there."""
    before, frames = sys.gettrace(), []
    frame: FrameType | None = sys._getframe() if before else None  # noqa: SLF001
    while frame is not None:
        frames.append((frame, frame.f_trace))
        frame = frame.f_back
    try:
        yield
    finally:
        if before:
            for frame, trace in frames:
                frame.f_trace = trace
            sys.settrace(before)


def _step(name: str) -> Step:
    found = next((step for step in STEPS if step == name), None)
    if found is None:
        raise UsageError(f"There is no step {name!r}.", nearest(name, STEPS) or f"It is one of {', '.join(STEPS)}.")
    return found


def _stop_at(where: str, function: Callable[[], Any], steps: tuple[Step, ...]) -> TestStop:
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            theirs.set_inheritable(True)
            environment = {name: value for name, value in os.environ.items() if name not in _NOT_THEIRS}
            words = [sys.executable, "-I", _START, "observes", str(theirs.fileno())]
            observer = start_unseen(words, environment)
            allow_ptrace(observer)
        with ours.makefile("rw", encoding="utf-8") as stream:
            _say(stream, json.dumps(encode(Wanted(os.getpid(), where, steps))))
            _heard(stream)
            try:
                result = function()
            except BaseException:
                ours.shutdown(socket.SHUT_RDWR)  # a child that the function has forked may have a copy
                wait_for_unseen(observer, _LEAVES)  # else the next one finds this one here
                raise
            _say(stream, "")
            stop = _heard(stream).stop
    if stop is None:
        raise HarnessError(f"The debugger has left before it came to {where}.")
    return TestStop(**vars(stop), result=result)


def _say(stream: TextIOWrapper, line: str) -> None:
    stream.write(f"{line}\n")
    stream.flush()


def _heard(stream: TextIOWrapper) -> Observed:
    line = stream.readline()
    if not line:
        raise HarnessError("The debugger has ended.", "`pyharness doctor` says what debugging needs.")
    answer = decode(Observed, json.loads(line), "what a debugger has seen")
    if answer.refused:
        raise HarnessError(answer.refused.message, answer.refused.remedy)
    return answer
