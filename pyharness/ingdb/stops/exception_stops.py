"""Stops where C++ exceptions are thrown and caught, although the symbols of the C++ library are not read.

The functions of the C++ runtime are found in the ELF symbol tables of every library: programs with a libstdc++ of
their own, statically linked, have several.
"""

from __future__ import annotations

import fnmatch
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal

import gdb

from pyharness.ingdb.passing import passes
from pyharness.ingdb.process import libraries
from pyharness.ingdb.process.inferior_memory import read
from pyharness.ingdb.stops import cxx_exception
from pyharness.model.frozen import frozen
from pyharness.model.user_code import is_user_binary, is_user_source
from pyharness.reading.process.memory import Memory, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.ingdb.stops.cxx_exception import CxxException
    from pyharness.reading.binaries.elf import Elf

Kind = Literal["throw", "catch"]
FUNCTIONS: dict[Kind, str] = {"throw": "__cxa_throw", "catch": "__cxa_begin_catch"}
"""Thrown (caught) by the user's own code; passing through it on its way to Python; whatever."""
_RAISING = ("libstdc++.", "libc++", "libc10.", "libgcc_s.")
"""Libraries whose functions throw on behalf of their caller, such as ``vector::at`` and ``TORCH_CHECK``."""
_MAX_FRAMES = 200


@frozen
class Filter:
    """Which exceptions to stop at."""

    origin: str = "own"
    types: tuple[str, ...] = ()
    """Patterns of type names, with or without namespaces, of the exception or a base; all where there are none."""


class ExceptionStop(gdb.Breakpoint):
    """One runtime function."""

    def __init__(self, kind: Kind, address: int, wanted: Filter) -> None:
        super().__init__(f"*{address:#x}", internal=True)
        self.kind = kind
        self.wanted = wanted

    def stop(self) -> bool:
        """Whether this exception is one to stop at; cheap tests come first: libraries throw a lot."""
        if passes():
            return False
        frame = gdb.newest_frame()
        try:
            if self.wanted.origin == "own" and not is_near(frame, self.kind):
                return False
            found = _exception(self.kind, frame)
        except (gdb.error, UnreadableError):
            return False
        if self.wanted.types and not _is_called(self.wanted.types, (found.type, *found.bases)):
            return False
        if not _comes_from(frame, self.wanted.origin, self.kind):
            return False
        latest[gdb.selected_thread().ptid[1]] = (self.kind, found)
        return True


def _is_called(patterns: Iterable[str], names: Iterable[str]) -> bool:
    wanted = [each for pattern in patterns for each in (pattern, f"*::{pattern}")]
    return any(fnmatch.fnmatchcase(name, each) for name in names for each in wanted)


stops: list[ExceptionStop] = []
latest: dict[int, tuple[Kind, CxxException]] = {}
"""What a thread, by LWP, stopped for."""


def set_stops(wanted: dict[Kind, Filter]) -> list[int]:
    """Stop at these from now on, in every library that is loaded now; gdb's numbers."""
    for stop in stops:
        if stop.is_valid():
            stop.delete()
    stops[:] = [ExceptionStop(kind, address, each) for kind, each in wanted.items() for address in addresses_of(kind)]
    return [stop.number for stop in stops]


class _Known:
    """What the files that are mapped now have, by kind; each native step asks for it."""

    mapping: ClassVar[object] = None
    addresses: ClassVar[dict[Kind, tuple[int, ...]]] = {}


def addresses_of(kind: Kind) -> tuple[int, ...]:
    """Where the C++ runtime begins with that, in each copy of it that is loaded."""
    if _Known.mapping is not (mapping := libraries.mapping()):
        _Known.mapping = mapping
        _Known.addresses.clear()
    if kind not in _Known.addresses:
        own = ((library, _defined(library.elf, FUNCTIONS[kind])) for library in libraries.libraries())
        _Known.addresses[kind] = tuple(address + library.bias for library, address in own if address is not None)
    return _Known.addresses[kind]


@lru_cache(maxsize=1024)
def _defined(elf: Elf, function: str) -> int | None:
    return elf.symbol(function)


def _exception(kind: Kind, frame: gdb.Frame) -> CxxException:
    """By the arguments of the runtime function that has just been called."""
    memory, first = Memory(read), int(frame.read_register("rdi")) & (1 << 64) - 1
    if kind == "catch":
        return cxx_exception.caught(memory, first)
    return cxx_exception.thrown(memory, first, int(frame.read_register("rsi")) & (1 << 64) - 1)


def is_near(frame: gdb.Frame, kind: Kind) -> bool:
    """Whether the caller can be the user's code, or throws on its behalf: by the return address, nothing is unwound."""
    library = libraries.library_at(Memory(read).pointer(int(frame.read_register("rsp"))))
    return library is not None and _is_skipped(library.path, kind)


def _is_skipped(path: str, kind: Kind) -> bool:
    return is_user_binary(path) or (kind == "throw" and path.rpartition("/")[2].startswith(_RAISING))


def _comes_from(frame: gdb.Frame, origin: str, kind: Kind) -> bool:
    if origin == "all":
        return True
    for path, is_own in _callers(frame):
        if is_own:
            return True
        if origin == "own" and not _is_skipped(path, kind):
            return False
    return False


def _callers(frame: gdb.Frame) -> Iterator[tuple[str, bool]]:
    """Library of each calling frame and whether its source is the user's, up to the interpreter: there C++ ends."""
    older = frame.older()
    for _ in range(_MAX_FRAMES):
        if older is None:
            return
        library = libraries.library_at(older.pc())
        path = library.path if library else ""
        if "/libpython3" in path or "/bin/python" in path:
            return
        place = older.find_sal() if is_user_binary(path) else None
        yield path, bool(place and place.symtab and is_user_source(place.symtab.fullname()))
        older = older.older()
