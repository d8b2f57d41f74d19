"""Names native frames: the function, and in the user's libraries the file, the line and what is inlined there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.plumbing import SIGNAL_HANDLER
from pyharness.model.user_code import is_user_binary
from pyharness.reading.functions.kept_places import KeptPlaces
from pyharness.reading.functions.place import CodePlace
from pyharness.reading.stack.merge import NativeFrame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.reading.binaries.elf import Elf
    from pyharness.reading.stack.unwinding import NativeCall

_MAIN = "main"
UNKNOWN = "??"
"""The name of a function that no table names."""


# What names functions and finds lines is imported where something is not kept yet: that is seldom.
class Naming:
    """Names frames; what it finds is kept by build-id from one run to the next."""

    def __init__(self, program: str) -> None:
        """``program`` is the path of the program's own file."""
        self._program = program
        self._kept = KeptPlaces()

    def frames(self, calls: Iterable[NativeCall]) -> list[NativeFrame]:
        """What is shown of these frames, innermost first; what is inlined has a frame of its own."""
        found: list[NativeFrame] = []
        for call in calls:
            found += self._frames(call)
            if found[-1].function == _MAIN and found[-1].library == self._program:
                break  # what calls it starts programs: gdb leaves it out, too
        return found

    def _frames(self, call: NativeCall) -> list[NativeFrame]:
        library = call.library
        if call.of_signal:
            return [NativeFrame(call.pc, call.sp, call.cfa, SIGNAL_HANDLER, library=library.path if library else None)]
        if library is None:
            return [NativeFrame(call.pc, call.sp, call.cfa, UNKNOWN)]
        find = _with_lines if is_user_binary(library.path) else _by_symbol
        places = self._kept.at(library.elf, call.own, find) or [CodePlace(UNKNOWN, None, None)]
        return [
            NativeFrame(call.pc, call.sp, call.cfa, place.function, place.file, place.line, library.path)
            for place in places
        ]

    def keep(self) -> None:
        """Write what was found to the disk."""
        self._kept.write()


def _by_symbol(elf: Elf, address: int) -> list[CodePlace]:
    from pyharness.reading.functions.symbol_names import function_at

    function = function_at(elf, address)
    return [CodePlace(function, None, None)] if function else []


def _with_lines(elf: Elf, address: int) -> list[CodePlace]:
    from pyharness.reading.functions.places_at import places_at
    from pyharness.reading.functions.symbol_names import with_namespace

    found = places_at(elf, address)
    if not found:
        return _by_symbol(elf, address)
    if outer := found[-1].function:
        return [*found[:-1], found[-1]._replace(function=with_namespace(elf, address, outer))]
    # A line, and nothing that says whose: where debug information lies in files of its own.
    return [named._replace(file=found[0].file, line=found[0].line) for named in _by_symbol(elf, address)]
