"""What a test and the debugger beside it tell each other, on a socket: one stop of the test's own process.

The test says what is ``Wanted``. The debugger answers twice: that the place is set, and what became of it. In between
the test runs what leads there, and says an empty line when that has returned.
"""

from __future__ import annotations

from typing import Literal

from pyharness.model.frozen import frozen

Step = Literal["into", "over", "out"]
STEPS: tuple[Step, ...] = ("into", "over", "out")


@frozen
class Wanted:
    """The test's first word: where its process shall stop."""

    pid: int
    where: str
    """A place, as ``pyharness step --at`` takes it."""
    steps: tuple[Step, ...]
    """What is done from there before the stop is told."""


@frozen
class Refused:
    """Why there is no stop."""

    message: str
    remedy: str


@frozen
class StopOfTest:
    """Where the process stood. It runs on."""

    language: Literal["python", "native"]
    function: str
    file: str | None
    line: int | None
    values: dict[str, str]
    """Arguments and local variables, as text."""
    stack: tuple[tuple[str, str], ...]
    """Functions and places of the thread, innermost first, without machinery."""
    note: str
    """Why a step ended where it did; empty where it ended as it was sent."""


@frozen
class Observed:
    """An answer of the debugger; without a refusal and a stop: the place is set."""

    refused: Refused | None = None
    stop: StopOfTest | None = None
