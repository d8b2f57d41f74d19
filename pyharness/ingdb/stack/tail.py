"""Reuses the outer part of a stack that was unwound before: from one step in a kernel to the next it does not change.

Unwinding is a function of registers and stack memory. Where a frame has the program counter, the stack pointer, the
callee-saved registers and, from there outwards, every byte of the stack that it had, so has everything outside it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pyharness.model.frozen import changed, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyharness.reading.stack.merge import NativeFrame

    Registers = Callable[[NativeFrame], tuple[int, ...] | None]
    Memory = Callable[[int, int], bytes]

_EVERY = 4
"""Frames between two that a later stack may join at."""
_MAX_BYTES = 1 << 20


@frozen
class _Joint:
    """A frame at which a later stack may be found to go on as this one did."""

    level: int
    registers: tuple[int, ...]


@frozen
class _Known:
    frames: tuple[NativeFrame, ...]
    base: int
    """Address of the first byte of ``stack``."""
    stack: bytes
    joints: dict[tuple[int, int, str], _Joint]
    """By program counter, stack pointer and function: what is inlined shares the first two with its caller."""


class StackTails:
    """The last whole stack of each thread; ``key`` names a thread of a process.

    ``looked_up`` tells by its function a frame that shows what lies elsewhere in memory: it and what is inside it are
    always unwound.
    """

    def __init__(self, registers: Registers, memory: Memory, looked_up: Callable[[str], bool]) -> None:
        self._registers = registers
        self._memory = memory
        self._looked_up = looked_up
        self._known: dict[tuple[int, ...], _Known] = {}

    def complete(self, key: tuple[int, ...], frames: Iterable[NativeFrame]) -> list[NativeFrame]:
        """All of ``frames``; those that are known come from the last stack of the thread, without a handle."""
        known = self._known.get(key)
        found: list[NativeFrame] = []
        for frame in frames:
            if known and (joint := known.joints.get(_place(frame))) and self._goes_on(known, joint, frame):
                here = changed(frame, handle=None)  # its line is another where it is the innermost one now
                whole = [*found, here, *known.frames[joint.level + 1 :]]
                if len(found) > _EVERY:  # the next stop joins further in
                    self._keep(key, self._remember(whole, known))
                return whole
            found.append(frame)
        self._keep(key, self._remember(found))
        return found

    def _keep(self, key: tuple[int, ...], made: _Known | None) -> None:
        self._known.pop(key, None)
        if made:
            self._known[key] = made

    def _goes_on(self, known: _Known, joint: _Joint, frame: NativeFrame) -> bool:
        was = known.stack[frame.sp - known.base :]
        try:
            return self._registers(frame) == joint.registers and self._memory(frame.sp, len(was)) == was
        except OSError:
            return False

    def _remember(self, frames: Sequence[NativeFrame], before: _Known | None = None) -> _Known | None:
        """``None`` for a stack that has no end, or none that is worth it; its outer part may come from ``before``."""
        first = self._first_level(frames)
        top = frames[-1].cfa or frames[-1].sp if frames else 0
        if first >= len(frames) - 1 or not 0 < top - frames[first].sp <= _MAX_BYTES:
            return None
        base = frames[first].sp
        times = Counter(map(_place, frames))  # a recursion that is inlined has frames of one place
        joints = {
            place: _Joint(level, registers)
            for level, frame in enumerate(frames[:-1])
            if level >= first and frame.sp >= base and times[place := _place(frame)] == 1
            if (registers := self._at_joint(frame, level - first, before))
        }
        try:
            return _Known(tuple(_kept(frames)), base, self._memory(base, top - base), joints)
        except OSError:
            return None

    def _at_joint(self, frame: NativeFrame, distance: int, before: _Known | None) -> tuple[int, ...] | None:
        """The registers of a frame that a later stack may join at."""
        if before and frame.handle is None:
            joint = before.joints.get(_place(frame))
            return joint.registers if joint else None
        return self._registers(frame) if distance % _EVERY == 0 else None

    def _first_level(self, frames: Sequence[NativeFrame]) -> int:
        inside = [level for level, frame in enumerate(frames) if self._looked_up(frame.function)]
        return inside[-1] + 1 if inside else 1


def _place(frame: NativeFrame) -> tuple[int, int, str]:
    return frame.pc, frame.sp, frame.function


def _kept(frames: Sequence[NativeFrame]) -> list[NativeFrame]:
    """Without the debugger's own frames, which are void after the next step."""
    return [changed(frame, handle=None) for frame in frames]
