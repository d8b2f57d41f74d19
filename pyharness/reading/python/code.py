"""Code objects of a CPython in memory: name, file, line table, and the slots of local variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyharness.reading.python.lines import line_at

if TYPE_CHECKING:
    from pyharness.reading.python.values import Values

MAX_LOCALS = 512
_CELL_OR_FREE = 0xC0


class Code(NamedTuple):
    """What a frame shows of its code object."""

    file: str
    name: str
    first_line: int
    table: bytes
    first_traceable: int
    """Instructions (2 bytes each) that run before the function's first line does."""


class Codes:
    """Reads code objects, each once."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.memory = values.memory
        self.layout = values.layout
        self._known: dict[int, Code] = {}

    def at(self, address: int) -> Code:
        """The code object at ``address``; `UnreadableError` where there is none."""
        if address not in self._known:
            name = "code.qualname" if "code.qualname" in self.layout else "code.name"
            traceable = "code.first_traceable"
            self._known[address] = Code(
                self.values.string(self._pointer(address, "code.filename")),
                self.values.string(self._pointer(address, name), 500),
                self.memory.signed(address + self.layout["code.firstlineno"], 4),
                self.values.byte_string(self._pointer(address, "code.linetable")),
                self.memory.signed(address + self.layout[traceable], 4) if traceable in self.layout else 0,
            )
        return self._known[address]

    def line(self, address: int, offset: int) -> int | None:
        """The source line of the instruction at byte ``offset``."""
        code = self.at(address)
        return line_at(self.layout.version, code.table, code.first_line, offset)

    def slots(self, address: int) -> list[tuple[str, bool]]:
        """Names of the local variables in the order of a frame's slots, each with whether the slot may hold a cell."""
        if "code.localsplusnames" in self.layout:
            names = self._names(address, "code.localsplusnames")
            kinds = self.values.byte_string(self._pointer(address, "code.localspluskinds"), MAX_LOCALS)
            return [(name, bool(kind & _CELL_OR_FREE)) for name, kind in zip(names, kinds, strict=False)]
        cells = self._names(address, "code.cellvars") + self._names(address, "code.freevars")
        return [(name, False) for name in self._names(address, "code.varnames")] + [(name, True) for name in cells]

    def _names(self, address: int, field: str) -> list[str]:
        _count, items = self.values.sequence(self._pointer(address, field), MAX_LOCALS)
        return [self.values.string(item, 100) for item in items]

    def _pointer(self, address: int, field: str) -> int:
        return self.memory.pointer(address + self.layout[field])
