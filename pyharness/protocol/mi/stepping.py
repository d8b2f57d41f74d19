"""Commands of a step: what stops it, where a thread stands, who called it."""

from __future__ import annotations

from typing import Literal, Optional

from pyharness.model.frames import Frame, FxPlace
from pyharness.model.frozen import frozen
from pyharness.protocol.mi.command import Command

MAX_FRAMES = 5000
"""Frames of a merged stack at most, wherever levels are counted."""


@frozen
class Armed:
    """What a step into native code would stop at."""

    functions: int = 0
    left_out: int = 0
    """Functions beyond what can be armed in the time that a person waits."""
    lost: str = ""
    """Libraries of the user's whose files changed since the program loaded them, and how: nothing stops in them."""


@frozen
class Arm(Command[Armed], name="ph-arm"):
    """Stop a thread at the start of every native function of the user's, until ``Disarm``.

    Traps are planted in a program that has the trap guard (``Attach.guarded``); else gdb's breakpoints serve.
    """

    thread: int


@frozen
class ArmReturn(Command[bool], name="ph-arm-return"):
    """Stop where the user's native code goes on, if it called the innermost Python function; whether it did."""

    thread: int
    stdlib: str
    """Folder of the program's standard library, which is not the user's code."""


@frozen
class ArmHandlers(Command[tuple[int, ...]], name="ph-arm-handlers"):
    """Stop a thread where the user's code catches a C++ exception that passes its step by; gdb's numbers of that.

    It holds for the next step, too, where that begins at the end of this one; not behind one that leaves inlined code.
    """

    thread: int
    level: int = 0
    """The frame that steps."""
    leaves: bool = False
    """The step leaves that frame: its own handlers do not count."""


@frozen
class DisarmHandlers(Command[None], name="ph-disarm-handlers"):
    """Undo ``ArmHandlers``."""


TrapHit = Literal["none", "trap", "beginning", "handler"]
"""``beginning``: of a function, which the thread goes on into; the trap lies now where to stop in it, if anywhere.

``handler``: of a signal, which is no part of the step; a breakpoint lies now where the step goes on, if gdb takes it.
"""
TrapPass = Literal["own", "lift", "hold"]
"""Whose trap it is: the thread's that steps; another's, for which it is taken away, or which waits at it."""


@frozen
class Trap(Command[TrapHit], name="ph-trap"):
    """Whether a thread stands at a trap of ``Arm``; if so its pc is put on the instruction that is there."""

    thread: int
    how: TrapPass


@frozen
class IsSentTrap(Command[bool], name="ph-is-sent-trap"):
    """Whether a thread stopped for a SIGTRAP that somebody sent: the program's own, and no breakpoint."""

    thread: int


@frozen
class IsOfCall(Command[bool], name="ph-is-of-call"):
    """Whether the signal that a thread stopped for came in a call of gdb's own (a breakpoint's condition)."""

    thread: int


@frozen
class ComeOut(Command[None], name="ph-come-out"):
    """Have a paused thread finish what holds the allocator's lock, or is half way through an object of Python's.

    Where it runs for that, gdb answers as it does when a thread goes on. ``CameOut`` tells what became of it.
    """

    thread: int


@frozen
class CameOut(Command[bool], name="ph-came-out"):
    """Whether the thread of the latest ``ComeOut`` is where it was led; else gdb has told of another stop of it."""


@frozen
class ResumeWithTrap(Command[None], name="ph-resume-with-trap"):
    """Let a thread go on and have the SIGTRAP that it stopped for; gdb itself keeps each for a breakpoint's."""

    thread: int
    command: Literal["continue", "next", "nexti", "stepi", "finish"]
    level: int = 0
    """The frame that ``finish`` leaves."""


@frozen
class PassTraps(Command[None], name="ph-pass"):
    """A thread has passed the traps that were lifted for it."""

    again: bool
    """Plant them once more: the step is not over."""


@frozen
class Disarm(Command[Optional[tuple[int, ...]]], name="ph-disarm"):  # noqa: UP045  (CPython 3.9 evaluates it)
    """Undo ``Arm`` and ``ArmReturn``; where a thread is named, do as ``ArmHandlers`` does for its next step.

    The answer is what that would say; ``None`` where nothing was armed.
    """

    thread: int = 0
    """One that stands in native code, most likely to step on; 0 for none."""


@frozen
class Location:
    """Where a thread stands."""

    function: str
    library: str | None
    """Path."""
    file: str | None
    line: int | None
    user: bool
    """Whether that is the user's code."""
    inlined: bool = False
    """Whether it is a library's code, inlined into a function of the user's."""
    note: str = ""
    """At an op or an autograd node: what stops there, and who called it."""
    fx: FxPlace | None = None
    """In a kernel that torch.compile made: the node that the line works for."""
    hint: str = ""
    """What to know of the code that it stands in, once."""


@frozen
class Where(Command[Location], name="ph-where"):
    """Where a thread stands."""

    thread: int


@frozen
class Caller:
    """Who called the user's native code."""

    language: Literal["native", "python", "none"]
    level: int = 0
    """The level of a native caller: ``level - 1`` is a frame that gdb can finish; the way to the caller may end within
    inlined code and goes on from there."""
    function: str = ""
    """The function of the user's that is left on the way to a native caller; empty where others are left with it."""
    handlers: tuple[int, ...] | None = None
    """What ``ArmHandlers`` would say; ``None`` where nothing was armed."""


@frozen
class FindCaller(Command[Caller], name="ph-caller"):
    """Who called the native code of the user's that a thread stands in."""

    thread: int
    arms: bool = False
    """Do as ``ArmHandlers`` does for the way to a native caller."""


@frozen
class SourceText:
    """What Python code says that is in no file, such as a notebook's cell."""

    file: str
    """The name that the code object has for it."""
    text: str


@frozen
class MergedStack:
    """Both languages, innermost frame first."""

    frames: tuple[Frame, ...]
    caller: Caller | None
    """Who called, where the thread stands in code of the user's: a step out asks for it next."""
    note: str = ""
    """What to know of the code that it stands in, once: that its library is not as the program loaded it, say."""
    left_out: str = ""
    """What to say of frames that are not among them; empty where all are."""
    sources: tuple[SourceText, ...] = ()
    """Texts that gdb has not told yet, of Python frames whose code is in no file."""
    holder: int = 0
    """The level of the frame that has ``Stack.holding``."""


@frozen
class Stack(Command[MergedStack], name="ph-stack"):
    """The merged stack of a thread."""

    thread: int
    limit: int = MAX_FRAMES
    holding: int = 0
    """An address on the thread's stack; 0 for none."""


@frozen
class Owner:
    """A thread for which another one works."""

    thread: int
    address: int
    """Where what the other one works with lies on the owner's stack."""


@frozen
class FindOwners(Command[tuple[Owner, ...]], name="ph-owners"):
    """The threads for which one without Python works: its own stack leads to theirs. The most likely one first."""

    thread: int


@frozen
class Jump(Command[int], name="ph-jump"):
    """Let a thread go on at another line of its newest frame's function when it is resumed; that line's address."""

    thread: int
    file: str
    line: int
    check: bool = False
    """Only find out whether it could."""
