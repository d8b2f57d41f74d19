"""Opens a core file with the program that made it, so that its memory, its libraries and its symbols are all there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.opening import attach, interpreter
from pyharness.ingdb.opening.names_of_files import without_own
from pyharness.ingdb.process import libraries
from pyharness.ingdb.settings import temporarily
from pyharness.model.errors import HarnessError, UsageError
from pyharness.reading.binaries.elf import PT_LOAD, open_elf
from pyharness.reading.process.fault_address import Area
from pyharness.reading.process.mapped_files import without_lines

_ENTRY = re.compile(r"AT_ENTRY\s.*?(0x[0-9a-f]+)")
_MAKER = "Leave `program` out: a core file says what made it"

_MAKE_AGAIN = "Make the core again; `gcore PID` makes one of a program that runs."
_QUOTES = 16
_CORE = b"\x04\x00"
"""``ET_CORE`` in an ELF header."""

_opened: dict[int, str] = {}
"""The core file of each inferior that has one."""


def open_core(path: str, program: str = "") -> None:
    """Read a core file, the executable that it names, and the user's libraries.

    ``program`` is read in place of the executable. Raises ``HarnessError`` for a file that is no whole core, and
    ``UsageError`` where another program made it.
    """
    attach.configure()
    try:
        _read(path, program)
    except UnicodeDecodeError as error:
        raise HarnessError(f"{path} is damaged: the name of a file in it is not text.", _MAKE_AGAIN) from error
    except (gdb.error, gdb.MemoryError) as error:
        raise HarnessError(_why(path, str(error)), _MAKE_AGAIN) from error
    try:
        gdb.newest_frame().pc()
    except gdb.error:  # gdb makes a thread up where there is none, but no registers
        raise HarnessError(f"{path} is damaged: no thread is in it.", _MAKE_AGAIN) from None
    _opened[gdb.selected_inferior().num] = path
    libraries.load_user_symbols()


def _read(path: str, program: str) -> None:
    # gdb reads libc whatever we say; with debug symbols installed for it, in full.
    with temporarily("debug-file-directory", "/nonexistent"):
        console.run(f"set sysroot {without_own()}")
        console.run(f"core-file {_argument(path)}")
        executable = _checked(path, program) if program else _executable()
        if executable:
            if not interpreter.read(executable):
                console.run(f"file {shlex.quote(executable)}")
            console.run(f"core-file {_argument(path)}")


def _why(path: str, error: str) -> str:
    """What keeps gdb from opening it: of a core file that lacks its end, gdb says that it is none."""
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(18)
    except OSError:
        head = b""
    if head[:4] == b"\x7fELF" and head[16:18] == _CORE:
        return f"{path} is damaged or truncated: gdb can make nothing of what is left."
    return f"{path} cannot be opened: {error}"


def _argument(path: str) -> str:
    """The path as ``core-file`` takes it: gdb 16 began to read quotes there, one before it takes all for the name."""
    if "\n" in path:
        raise UsageError(f"{path!r}: gdb takes no name with a line break.", "Give the file another name.")
    return shlex.quote(path) if int(gdb.VERSION.partition(".")[0]) >= _QUOTES else path


def _entry() -> int | None:
    """Where the program's first instruction lies; ``None`` where the core has not kept it."""
    try:
        entry = _ENTRY.search(console.run("info auxv"))
    except gdb.error:
        return None
    return int(entry[1], 16) if entry else None


def _executable() -> str | None:
    """The program of a core file: the file that its first instruction lies in."""
    entry = _entry()
    library = libraries.library_at(entry) if entry else None
    return library.path if library else None


def _checked(path: str, program: str) -> str:
    entry = _entry()
    if entry and not libraries.may_be_at(entry, open_elf(program)):
        made = libraries.path_at(entry)
        raise UsageError(f"{path} was not made by {program}.", f"{_MAKER}, {made}." if made else f"{_MAKER}.")
    return program


def lacks() -> list[str]:
    """What the core file refers to and is not here as it was: a sentence each."""
    found = [without_lines(path, became) for path, became in libraries.lost().items()]
    entry = _entry()
    program = libraries.path_at(entry) if entry else ""
    if program and _executable() is None:
        found.insert(0, f"The program, {program}, is missing, or another one by now: Python's half cannot be read.")
    return found


def memory() -> list[Area] | None:
    """The memory that the core file tells of; ``None`` where the selected inferior is none of a core file."""
    path = _opened.get(gdb.selected_inferior().num)
    if path is None or libraries.is_traced(gdb.selected_inferior().pid):
        return None
    pieces = (piece for piece in open_elf(path).segments if piece.type == PT_LOAD)
    return [
        Area(
            piece.address,
            piece.address + piece.memory_size,
            _permissions(piece.flags),
            libraries.path_at(piece.address),
        )
        for piece in pieces
    ]


def _permissions(flags: int) -> str:
    return "".join(letter if flags & bit else "-" for letter, bit in (("r", 4), ("w", 2), ("x", 1)))
