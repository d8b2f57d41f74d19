"""What the client asks of the machine, and what the machine answers: what each debugger is to do."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pyharness.model.frozen import frozen

Request = Literal["continue", "into", "into_native", "over", "out", "instruction", "into_instruction"]


@frozen
class Start:
    """Let the program begin; with ``stop`` it halts at the user's first line."""

    stop: bool = False


@frozen
class Arm:
    """Break at every native function of the user's, on this thread."""

    thread: int


@frozen
class ArmReturn:
    """Break where native code of the user's goes on that called the Python code of this thread, if there is any."""

    thread: int


@frozen
class Disarm:
    """Take these breakpoints away."""


@frozen
class Python:
    """A DAP request that resumes: continue, next, stepIn, stepOut."""

    thread: int
    command: Literal["continue", "next", "stepIn", "stepOut"]


@frozen
class Native:
    """gdb resumes one thread: to run on, or to the next line."""

    thread: int
    command: Literal["continue", "next", "nexti", "stepi"]


@frozen
class Leave:
    """Run on to whoever called the user's native code: another native frame of theirs, or their next Python line.

    With ``pending``, debugpy is to stop at that line already.
    """

    thread: int
    pending: bool = False


@frozen
class AgentArm:
    """Have debugpy stop at the next Python line of this thread (through the agent).

    The line is the caller's, or one of a function that native code calls meanwhile.
    """

    thread: int


@frozen
class AgentDisarm:
    """Have debugpy forget a step that is still pending on this thread (through the agent)."""

    thread: int


Action: TypeAlias = Start | Arm | ArmReturn | Disarm | Python | Native | Leave | AgentArm | AgentDisarm
