"""The breakpoints on the C function that a program calls at a Python line where it shall stop (csrc/trap)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.functions.trap_line import FUNCTION, current_line, newest, text_argument
from pyharness.model.conditions import hits as hit_condition

if TYPE_CHECKING:
    from collections.abc import Callable

_Made = TypeVar("_Made", bound=gdb.Breakpoint)

_ENDS = "pyharness_program_ends"


class PythonPlace(gdb.Breakpoint):
    """A place of the person's on the Python side: ``info breakpoints``, ``delete``, ``ignore`` work on it as on any."""

    def __init__(self, hits: str) -> None:
        self._hits, self.count = hits, 0
        super().__init__(FUNCTION)
        self.silent = True  # we print the Python line, not the C function

    def stop(self) -> bool:
        """Whether the line that is about to run is this place, and it is one of the times that count."""
        line = current_line()
        if line is None or self.number not in line.stops:
            return False
        self.count += 1
        return hit_condition.holds(self._hits, self.count)


class StepEnd(gdb.Breakpoint):
    """Where a step that came to Python ends."""

    def __init__(self) -> None:
        super().__init__(FUNCTION, internal=True)
        self.silent = True

    def stop(self) -> bool:
        """Whether a step ends at the line that is about to run."""
        line = current_line()
        return line is not None and line.step


class ProgramEnds(gdb.Breakpoint):
    """Reads which places the program never reached, as it ends; it never stops there."""

    def __init__(self) -> None:
        super().__init__(_ENDS, internal=True)
        self.silent = True
        self.hints: dict[int, str] = {}

    def stop(self) -> bool:
        """Keep the program's report, and let it end."""
        frame = newest()
        if frame is not None:
            self.hints = {entry["id"]: entry["hint"] for entry in json.loads(text_argument(frame, 0))["unreached"]}
        return False


_own: list[StepEnd | ProgramEnds] = []


def watch() -> None:
    """Set our own breakpoints, once: at the first command that needs them, so that a gdb without them is as it was."""
    if not _own:
        _own.extend([quietly(StepEnd), quietly(ProgramEnds)])


def hints() -> dict[int, str]:
    """What the program said, as it ended, of the places that it never reached."""
    return next((own.hints for own in _own if isinstance(own, ProgramEnds)), {})


def quietly(make: Callable[[], _Made]) -> _Made:
    """Make a breakpoint without gdb's remark that its function is not there yet: it will be."""
    made: list[_Made] = []
    _to_make.append(lambda: made.append(make()))
    console.run(f"python import {__name__} as _trap; _trap._to_make.pop()()")
    return made[0]


_to_make: list[Callable[[], None]] = []
