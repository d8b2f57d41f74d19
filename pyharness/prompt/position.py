"""Where a person looks: the stop, the merged stack of its thread, and the frame that was selected."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pyharness.debugger.merged_stack import StackFrame, merged_stack, python_frames
from pyharness.model.errors import HarnessError
from pyharness.model.evaluation import checked_level
from pyharness.model.frames import Frame

if TYPE_CHECKING:
    from pyharness.debugger.shell import Shell
    from pyharness.debugger.stop import Stopped

_TOP = 8
"""Frames that debugpy is asked for where the innermost is wanted: some of them may be ours."""


class Position:
    """One stop; what is read of it is read once."""

    def __init__(self, shell: Shell, stop: Stopped, thread: int = 0) -> None:
        self._shell = shell
        self.stop = stop
        self.thread = thread or stop.thread
        """The one that is looked at; only that of the stop stands."""
        self._selected: StackFrame | None = None
        self.note = ""
        """What gdb says of where a native thread stands."""
        self.top = self._top() if self.thread == stop.thread else self._first()

    def _top(self) -> StackFrame:
        """The innermost frame, without the stack around it: that is not asked for at each step."""
        if self.stop.language == "python":
            return python_frames(self._shell, self.thread, _TOP)[0]
        place = self._shell.attach().where(self.thread)
        self.note = place.note
        frame = Frame("native", place.function, place.file, place.line, fx=place.fx, library=place.library)
        return StackFrame(self.thread, 0, frame)

    def _first(self) -> StackFrame:
        if not self.stack:
            raise HarnessError(
                f"Thread {self.thread} runs, and no gdb is here to hold it.",
                "A step into native code, or a place there, brings gdb.",
            )
        return self.stack[0]

    @cached_property
    def stack(self) -> list[StackFrame]:
        """The merged stack, innermost frame first."""
        return merged_stack(self._shell, self.thread)

    @property
    def around(self) -> list[StackFrame]:
        """The frames from the one that is looked at outwards, as far as they were read."""
        return [self.top] if self._selected is None else self.stack

    @property
    def rows(self) -> list[tuple[int, StackFrame]]:
        """The frames of the user's code and the innermost one, with their numbers in the stack."""
        numbered = enumerate(self.stack)
        return [(number, shown) for number, shown in numbered if not number or not shown.frame.plumbing]

    @property
    def shown(self) -> StackFrame:
        """The frame that is selected: the innermost one at first."""
        return self._selected or self.top

    @property
    def number(self) -> int:
        """The number of that frame."""
        return next((number for number, each in enumerate(self.stack) if each is self._selected), 0)

    def select(self, number: int) -> StackFrame:
        """Look at a frame by its number from now on."""
        self._selected = self.stack[checked_level(number, len(self.stack))]
        return self._selected

    def unselect(self) -> None:
        """Look at the innermost frame again."""
        self._selected = None

    def move(self, count: int) -> StackFrame:
        """Look at a frame further out, or in: those of plumbing do not count."""
        numbers = [number for number, _ in self.rows]
        at = max((index for index, number in enumerate(numbers) if number <= self.number), default=0) + count
        if count > 0 and at >= len(numbers) and self.number == numbers[-1]:
            raise HarnessError("This is the outermost frame of your code.", "`bt full` shows what called it.")
        if count < 0 and at < 0 and self.number == numbers[0]:
            raise HarnessError("This is the innermost frame.")
        return self.select(numbers[max(0, min(at, len(numbers) - 1))])

    def select_users(self) -> bool:
        """Look at the innermost frame of the user's code, where the thread stands in another's; whether it did."""
        if self.top.frame.file is None or self.top.frame.plumbing:
            number = next((number for number, each in enumerate(self.stack) if not each.frame.plumbing), 0)
            if number:
                self.select(number)
        return self._selected is not None
