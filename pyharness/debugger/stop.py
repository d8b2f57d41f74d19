"""A stop: as each debugger reports it to the machine, and as the client is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from pyharness.debugger.breaking.breakpoint import Breakpoint

Language = Literal["python", "native", "start"]
NativeReason = Literal["breakpoint", "arrived", "stepped", "signal", "pause", "data breakpoint", "exception"]


@frozen
class PythonStopped:
    """debugpy stopped a thread."""

    thread: int
    reason: str
    """debugpy's own: step, breakpoint, exception, pause, ..."""
    called_back: bool = False
    """Whether the thread is in code that native code has called since ``AgentArm``."""
    before_nodes: bool = False
    """Whether *into* has led the thread to what a wrapper of inductor's does before its first node."""


@frozen
class NativeStopped:
    """gdb stopped a thread."""

    thread: int
    reason: NativeReason
    """``arrived``: at a function that *into* armed; ``stepped``: gdb's own step ended."""
    in_user_code: bool = True
    breakpoint: Breakpoint | None = None
    """The one that was hit."""
    inlined: bool = False
    """Whether the thread is in a library's code that is inlined into a function of the user's."""


@frozen
class Stopped:
    """What the client is told."""

    thread: int
    language: Literal["python", "native"]
    reason: Literal["breakpoint", "step", "signal", "exception", "entry", "pause", "data breakpoint", "goto"]
    ran_nothing: bool = False
    """An *into* ended at a Python line because that line ran no function of the user's."""
    breakpoint: Breakpoint | None = None
    """The one that was hit, of those that gdb knows; debugpy does not say which."""


Event: TypeAlias = PythonStopped | NativeStopped
