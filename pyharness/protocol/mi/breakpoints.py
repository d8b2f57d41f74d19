"""Commands that decide where the program stops, and say what a stop is: breakpoints, data breakpoints, exceptions."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Literal

from pyharness.model.codec import decode, encode
from pyharness.model.frames import Frame
from pyharness.model.frozen import frozen
from pyharness.model.text.json_lines import parsed
from pyharness.protocol.mi.command import Command

Access = Literal["write", "read", "readWrite"]
ExceptionOrigin = Literal["own", "through", "all"]
_LOGGED = "ph-logged "
_MOST_SHOWN = 3


@frozen
class Bound:
    """Where a breakpoint was set."""

    numbers: tuple[int, ...]
    """gdb's; none where nothing that is loaded has the place."""
    hint: str = ""
    """Where nothing has it: the nearest names."""
    places: tuple[tuple[str, int], ...] = ()
    """Source file and line of each; gdb says so since version 13."""


@frozen
class FoundFunctions:
    """The functions of a name in one library."""

    library: str
    """The path."""
    names: tuple[str, ...]
    """The full names of some of them."""

    def example(self, kind: str = "") -> str:
        """The library and the shortest of the names, each with the kind of a place (``native:``) before it."""
        shortest = sorted(self.names, key=len)[:_MOST_SHOWN]
        return f"{PurePath(self.library).name} has, for example, {', '.join(kind + name for name in shortest)}"


@frozen
class FindFunction(Command[tuple[FoundFunctions, ...]], name="ph-find-function"):
    """The loaded libraries, the user's or not, that have a function of a name, or else of its last part."""

    function: str
    """The name, qualified or only its last part."""


@frozen
class Break(Command[Bound], name="ph-break"):
    """Set the user's breakpoint at an address, at a line of a file, or at all functions of a name."""

    function: str = ""
    """Qualified, or only its last part; in full where it is one of a library of others."""
    file: str = ""
    line: int = 0
    address: int = 0
    condition: str = ""
    """A gdb expression; empty for none."""
    ignore: int = 0
    """How many hits do not stop, before the first that does."""
    hits: str = ""
    """Which hits count (``model/conditions/hits.py``); empty for all."""
    log: str = ""
    """What is printed instead of stopping, with gdb expressions in braces; empty where it stops."""
    number: int = 0
    """The core's number of the breakpoint: what it logs is told with it."""
    rank: int | None = None
    """What ``rank`` means in the condition and the log message, where the code has no such name."""
    thread: int = 0
    """A thread that stands, one of whose frames is the only call of its function that counts; 0 where all do."""
    level: int = 0
    """Which frame that is: its index in the merged stack."""
    node: str = ""
    """A node of a graph: where equal kernels are one, only the calls that compute it count; empty for all."""
    own: bool = False
    """Whether only a function of the user's is meant."""


@frozen
class Logged:
    """What a native log point printed: a line of gdb's console, which has no notices of ours before gdb 14."""

    number: int
    """The core's number of the breakpoint."""
    text: str

    def to_line(self) -> str:
        """The line, without its end."""
        return _LOGGED + json.dumps(encode(self))

    @classmethod
    def in_line(cls, line: str) -> Logged | None:
        """What a line of the console says; ``None`` for any other line."""
        if not line.startswith(_LOGGED):
            return None
        try:
            return decode(cls, parsed(line.removeprefix(_LOGGED)), cls.__name__)
        except ValueError:
            return None


@frozen
class Delete(Command[None], name="ph-delete"):
    """Delete breakpoints."""

    numbers: tuple[int, ...]


@frozen
class WatchTarget:
    """What is, or could be, watched."""

    address: int
    length: int
    """Bytes."""
    description: str
    """The description of the target, such as ``x[3, 2] (float32) at 0x7f00``."""
    value: str
    number: int = 0
    """gdb's; 0 for one that is not set."""


@frozen
class DescribeWatch(Command[WatchTarget], name="ph-watch-target"):
    """What could be watched under a name."""

    thread: int
    expression: str
    level: int = 0
    object: int = 0
    """Address of a Python tensor: then only the indices of the expression count."""


@frozen
class Watch(Command[WatchTarget], name="ph-watch"):
    """Set a data breakpoint on an expression in a frame, or on ``length`` bytes at ``address``."""

    thread: int
    level: int
    access: Access
    condition: str
    """A gdb expression in which ``$value`` and ``$old`` are the new and the old number; empty for none."""
    expression: str = ""
    object: int = 0
    """The object, as for ``DescribeWatch``."""
    address: int = 0
    length: int = 8


@frozen
class Unwatch(Command[None], name="ph-unwatch"):
    """Remove data breakpoints."""

    numbers: tuple[int, ...]


@frozen
class WatchesOver(Command[tuple[int, ...]], name="ph-watches-over"):
    """End the data breakpoints on locals of frames that have returned; the numbers of all that are over."""

    thread: int
    """One that stands: what is on its stack can be told, and nothing else."""


@frozen
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
    """Why the condition could not be tested, or that there is nothing to watch any more."""

    @property
    def text(self) -> str:
        """One line for a person."""
        where = self.own or self.by
        place = f" by {where.function} ({where.file}:{where.line})" if where and where.file else ""
        change = f"{self.old} → {self.new}" if self.old != self.new else self.new
        error = f" ({self.error})" if self.error else ""
        return f"{self.description}: {change}{place}{error}"


@frozen
class WatchHits(Command[tuple[WatchHit, ...]], name="ph-watch-hits"):
    """What a stop at data breakpoints means, for each that was hit: the values, and who accessed it."""

    thread: int


@frozen
class Catch(Command[tuple[int, ...]], name="ph-catch"):
    """Stop where C++ exceptions are thrown and caught; gdb's numbers. It replaces what was set before.

    Types are patterns of the exception's type or of a base of it: none for all types; ``None`` for no stop.
    """

    throw: tuple[str, ...] | None
    catch: tuple[str, ...] | None
    origin: ExceptionOrigin = "own"
    """``own``: the user's code throws, or catches; ``through``: it passes their code on its way; ``all``."""


@frozen
class CxxException:
    """The exception that a thread stopped for."""

    kind: Literal["throw", "catch"]
    type: str
    """Demangled."""
    bases: tuple[str, ...]
    what: str
    """Empty where the message is not in memory."""
    level: int
    """The level of ``frame`` in the merged stack, -1 for none."""
    frame: Frame | None
    """The innermost native frame of the user's."""


@frozen
class ExceptionInfo(Command[CxxException], name="ph-exception-info"):
    """The C++ exception that a thread stopped for."""

    thread: int
