"""One breakpoint of the core: what a person asked for, and what is known of it in the program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from pyharness.debugger.merged_stack import StackFrame
    from pyharness.model.where import Where


@frozen
class LineInCxx:
    """A line of generated C++ that a place in a graph means, once the library with it is loaded."""

    file: str
    line: int
    condition: str = ""
    """On the loops' variables: in which round an element is computed; empty for the whole of a call."""
    node: str = ""
    """The node whose call counts, where several calls run the line; empty where all that come there do."""


@dataclass(eq=False)
class Breakpoint:
    """A place where the program stops or, with a message, logs and runs on.

    It is known by its identity everywhere: two of the same place are two breakpoints.
    """

    where: Where
    """The place, its condition and its hit condition."""
    log: str = ""
    """What a log point prints, with expressions in braces, in the place's language; empty where the program stops."""
    function: str = ""
    """The bare name of Python functions that are meant, too: of native ones only the user's are then."""
    within: StackFrame | None = None
    """A frame that stands when this is set: of its function no other call counts; ``None`` where all do."""
    number: int = 0
    """Counts all of a program's, from 1: the program and gdb speak of it by this number."""
    lines: list[tuple[str, int]] = field(default_factory=list)
    """Files and lines that it has been bound to."""
    in_cxx: list[LineInCxx] = field(default_factory=list)
    """Lines of generated C++ that it is to be bound to when their library is loaded."""
    numbers: list[int] = field(default_factory=list)
    """gdb's numbers of it."""
    hint: str = ""
    """What gdb said of a native place that it has not found: the nearest names."""
    is_set: bool = False
    """Whether the program stops there, or logs: a thread may still be on its way to one that was removed."""
    is_later: bool = False
    """Whether the program had stopped elsewhere when it was set: what had run before was not looked at."""

    @property
    def pending(self) -> bool:
        """Whether nothing that is loaded has the place."""
        return not self.lines and not self.numbers

    @property
    def is_at_generated_lines(self) -> bool:
        """Whether it may be lines of generated code; a log point of an op prints its tensors, which only the op has."""
        return self.where.is_generated and not (self.log and self.where.is_native_op)

    @property
    def is_bound(self) -> bool:
        """Whether it is sure to stop there: an op is known by its name, whether it is loaded or not."""
        return self.where.is_native_op or not self.pending

    @property
    def is_of_function(self) -> bool:
        """Whether it is at each native function of a name: a library that is loaded later may have another one."""
        where = self.where
        return where.kind == "native" and not where.line and not where.name.startswith("*")

    def __str__(self) -> str:
        return self.where.written
