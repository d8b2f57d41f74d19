"""Data breakpoints of the native half: set on a name or an address, and what a stop at one means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pyharness.debugger.native_side import number_of
from pyharness.model.frames import Frame, from_json

if TYPE_CHECKING:
    from pyharness.debugger.native_side import NativeSide
    from pyharness.gdbmi.records import Notice

Access = Literal["write", "read", "readWrite"]


@dataclass(frozen=True)
class WatchTarget:
    """What is, or could be, watched."""

    address: int
    length: int
    """Bytes."""
    description: str
    """Such as ``x[3, 2] (float32) at 0x7f00``."""
    value: str
    number: int = 0
    """gdb's; 0 for one that is not set."""


@dataclass(frozen=True)
class WatchHit:
    """One access to a watched place."""

    number: int
    """gdb's."""
    address: int
    length: int
    description: str
    access: Access
    old: str
    new: str
    """Values as elements of the tensor, or as the C++ type shows them."""
    by: Frame | None
    """The innermost frame, with the line that made the access."""
    own: Frame | None
    """The innermost frame of the user's own code, in either language."""
    error: str = ""
    """Why the condition could not be tested."""

    @property
    def text(self) -> str:
        """One line for a person."""
        where = self.own or self.by
        place = f" by {where.function} ({where.file}:{where.line})" if where and where.file else ""
        change = f"{self.old} → {self.new}" if self.old != self.new else self.new
        return f"{self.description}: {change}{place}"


class NativeWatch:
    """Sets, removes and explains data breakpoints."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native
        self.targets: dict[int, WatchTarget] = {}
        """Those that are set, by gdb's number."""

    def target(self, thread: int, expression: str, level: int = 0, python_object: int = 0) -> WatchTarget:
        """What could be watched under a name in a frame of the merged stack; ``GdbError`` says why nothing could.

        ``python_object`` is the address of a Python tensor; then only the indices of the expression count.
        """
        request = {"expression": expression, "level": level, "object": python_object}
        return WatchTarget(**self._native.ask_about(thread, "ph-watch-target", request))

    def watch(
        self, thread: int, target: str | WatchTarget, *, level: int = 0, access: Access = "write", condition: str = ""
    ) -> WatchTarget:
        """Stop at every access by any thread, until it is removed; ``thread`` is any that can be asked.

        The condition is a gdb expression in which ``$value`` and ``$old`` are the new and the old number.
        """
        request: dict[str, Any] = {"level": level, "access": access, "condition": condition}
        if isinstance(target, WatchTarget):
            request |= {"address": target.address, "length": target.length}
        else:
            request["expression"] = target
        found = WatchTarget(**self._native.ask_about(thread, "ph-watch", request))
        self.targets[found.number] = found
        self._native.reason_of_number[found.number] = "data breakpoint"
        return found

    def unwatch(self, number: int) -> None:
        """Remove one."""
        self.targets.pop(number, None)
        self._native.ask("ph-unwatch", {"numbers": [number]})

    def hits(self, thread: int) -> list[WatchHit]:
        """What a stop with the reason ``data breakpoint`` means; one instruction may access several places."""
        return [
            WatchHit(**{**found, **{key: from_json(found[key]) if found[key] else None for key in ("by", "own")}})
            for found in self._native.ask("ph-watch-hits", {"thread": thread})
        ]

    def hit(self, notice: Notice, thread: int) -> WatchHit:
        """Of these, the one that gdb's record names."""
        hits = self.hits(thread)
        return next((hit for hit in hits if hit.number == number_of(notice)), hits[0])
