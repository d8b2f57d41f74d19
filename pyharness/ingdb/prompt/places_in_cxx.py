"""Places in a graph that AOTInductor compiled: each is a line of a wrapper in C++, and so a breakpoint of gdb's own.

Such a library may be loaded by a program that has no Python, and so no agent that stops it.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

import gdb

from pyharness.ingdb import console, terminal
from pyharness.ingdb.functions.kernel_stops import has_kernels
from pyharness.ingdb.functions.user_functions import user_functions
from pyharness.ingdb.process import libraries
from pyharness.model.kernel_files import is_cxx
from pyharness.model.places import statements
from pyharness.model.wrapper_map import map_of_cxx

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.where import Where


class PlaceInCxx:
    """One place, and what is set for it in the libraries that are loaded so far."""

    waiting: ClassVar[list[PlaceInCxx]] = []
    """All that there are: each library that the program loads may have them. gdb has one person at it."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._set: dict[tuple[str, int], gdb.Breakpoint] = {}
        if not self.waiting:
            gdb.events.new_objfile.connect(lambda _event: bind_all())
        self.waiting.append(self)

    @property
    def is_set(self) -> bool:
        """Whether any library has it."""
        return bool(self._set)

    @property
    def hits(self) -> int:
        """How often the program has come there."""
        return sum(each.hit_count for each in self._set.values() if each.is_valid())

    def bind(self) -> None:
        """Set what is not set yet."""
        for file, line in _lines(self._where):
            if (file, line) not in self._set:
                condition = f" if {self._where.condition}" if self._where.condition else ""
                console.run(f'break -source "{PurePath(file).name}" -line {line}{condition}')
                made = max(gdb.breakpoints(), key=lambda each: each.number)
                self._set[file, line] = made
                terminal.write(f"Breakpoint {made.number} at {self._where}: line {line} of {PurePath(file).name}")


def bind_all() -> None:
    """Set what waits for a library that may be loaded now."""
    for each in PlaceInCxx.waiting:
        each.bind()


def _lines(where: Where) -> Iterator[tuple[str, int]]:
    for library in filter(lambda each: has_kernels(each.elf), libraries.user_libraries()):
        for file in sorted({each.file for each in user_functions(library.elf) if is_cxx(each.file)}):
            source_map = map_of_cxx(file)
            for entry in statements(source_map, where.kind, where.name) if source_map else ():
                yield file, entry.line
