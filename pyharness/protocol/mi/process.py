"""Commands about the program as a whole: attaching, symbols, threads, modules, signals, core files."""

from __future__ import annotations

from pyharness.model.frozen import frozen
from pyharness.protocol.agent import Doorway
from pyharness.protocol.mi.command import Command


@frozen
class Attach(Command[tuple[int, ...]], name="ph-attach"):
    """Attach in non-stop mode; the LWPs of all threads, which stand then."""

    pid: int
    agent: Doorway | None = None
    """Where the program's agent is asked, if it has one."""
    guarded: bool = False
    """Whether the program outlives a breakpoint that is left in it."""


@frozen
class ReadScript(Command[None], name="ph-read-script"):
    """Do what a script of the person's own says: commands of gdb's, or Python."""

    path: str
    """Absolute."""


READ_MORE = "ph-read-more"
"""A line of gdb's console: it has read libraries that a step has loaded; what waits for one of them can be set."""


@frozen
class LoadSymbols(Command[tuple[str, ...]], name="ph-load-symbols"):
    """Read the symbols of the user's libraries that were loaded since; all that are read now, by path."""


@frozen
class WatchLoads(Command[int], name="ph-watch-loads"):
    """Stop whenever native code has loaded a library of the user's; gdb's number of that, 0 where it cannot be."""


@frozen
class Threads(Command[dict[str, int]], name="ph-threads"):
    """gdb's number of each thread, as MI writes it, and its LWP."""


@frozen
class ThreadNames(Command[dict[int, str]], name="ph-thread-names"):
    """The names that Python has for threads, by the kernel's ids as the program sees them."""


@frozen
class CoreContents:
    """What is in a core file."""

    pid: int
    """The process id of the program that left the core."""
    threads: dict[int, str]
    """LWP → the kernel's name, empty where the core has none."""
    thread: int
    """The one that the core was made for."""
    lacks: tuple[str, ...]
    """What of the program is not here any more, a sentence each."""


@frozen
class OpenCore(Command[CoreContents], name="ph-open-core"):
    """Open a core file."""

    path: str
    program: str = ""
    """Path of the executable, empty where the core's own record will do."""


@frozen
class Module:
    """One mapped ELF file."""

    id: str
    name: str
    path: str
    symbols: str
    """Whether they are read, for a person."""
    symbol_file: str
    """The file with the line tables, empty where there is none."""
    start: int
    end: int
    user_code: bool
    version: str
    build_id: str


@frozen
class Modules(Command[tuple[Module, ...]], name="ph-modules"):
    """Every mapped ELF file, in order of address."""


@frozen
class Signal:
    """A signal that exists."""

    name: str
    stop: bool
    """Whether the program stops at it."""
    meaning: str


@frozen
class Signals(Command[tuple[Signal, ...]], name="ph-signals"):
    """All signals but those that the debugger needs; with ``stop``, these stop the program from now on, no others."""

    stop: tuple[str, ...] | None = None


@frozen
class SignalStop:
    """A signal that a thread stopped for."""

    name: str
    meaning: str
    reason: str
    """What the kernel says of it, empty for nothing."""
    sender: int
    """Process that sent it, 0 where that is the program itself, or it is its own fault."""
    address: int | None
    """The address that could not be accessed."""
    what: str
    """What lies there, for a person."""
    python_call: str = ""
    """What was wrong with a call of Python's C API, for a person; empty for nothing."""

    @property
    def text(self) -> str:
        """One line for a person."""
        where = f" at {self.address:#x}" if self.address is not None else ""
        told = "; ".join(filter(None, (self.python_call, self.what, self.reason if not self.what else "")))
        by = f", sent by process {self.sender}" if self.sender else ""
        return f"{self.name} ({self.meaning}){where}{by}{f': {told}' if told else ''}"


@frozen
class SignalInfo(Command[SignalStop], name="ph-signal-info"):
    """The signal that a thread stopped for."""

    thread: int
