"""Parses ``.debug_line`` (DWARF 2 to 5): which address belongs to which line of which file.

Source: DWARF 5, section 6.2. Only statement rows are kept: those at which a debugger stops.
"""

from __future__ import annotations

import posixpath
from array import array
from bisect import bisect_left, bisect_right
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from pyharness.model.frozen import frozen
from pyharness.reading.binaries.byte_reader import MASK64, Reader
from pyharness.reading.binaries.debug_entries import FOLDER, LINES, units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.reading.binaries.elf import Elf

_PATH, _DIRECTORY = 1, 2  # DW_LNCT_*
_FORMS_FIXED = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16}


class Line(NamedTuple):
    """A row of the table."""

    address: int
    file: str
    line: int


@frozen
class Sequence:
    """Rows of one contiguous piece of code, in order of address; the last row only ends it."""

    addresses: array[int]
    files: array[int]
    lines: array[int]
    names: list[str]
    prologue_ends: array[int]
    """Indices of rows behind what sets a function's frame up, where the compiler says so: LLVM's do."""

    def at(self, address: int) -> int:
        """Index of the row that covers ``address``: the last of those that begin where it does."""
        return bisect_right(self.addresses, address) - 1

    def row(self, index: int) -> Line:
        """The row of that index."""
        file = self.files[index]
        name = self.names[file] if file < len(self.names) else ""
        return Line(self.addresses[index], name, self.lines[index])

    def prologue_end(self, start: int, end: int) -> int | None:
        """Index of the first row from ``start`` to ``end`` that is said to be behind a prologue."""
        at = bisect_left(self.prologue_ends, bisect_left(self.addresses, start))
        found = self.prologue_ends[at] if at < len(self.prologue_ends) else len(self.addresses)
        return found if found < len(self.addresses) and self.addresses[found] < end else None

    def rows(self) -> Iterator[Line]:
        """Each row that has code, up to the next one."""
        for index in range(len(self.addresses) - 1):
            if self.addresses[index] != self.addresses[index + 1]:
                yield self.row(index)


class LineTable:
    """All sequences of a file, found by address."""

    def __init__(self, sequences: list[Sequence]) -> None:
        self.sequences = sorted(sequences, key=lambda sequence: sequence.addresses[0])
        """In order of address."""
        self._starts = [sequence.addresses[0] for sequence in self.sequences]

    def sequence_at(self, address: int) -> Sequence | None:
        """The sequence that covers ``address``."""
        index = bisect_right(self._starts, address) - 1
        if index < 0 or address >= self.sequences[index].addresses[-1]:
            return None
        return self.sequences[index]


def line_table(elf: Elf) -> LineTable:
    """The line table of ``elf`` or of its debug file; empty where there is none. A damaged unit ends the table."""
    source = elf.with_section(".debug_line")
    if source is None:
        return LineTable([])
    strings = {0x1F: source.section_data(".debug_line_str"), 0x0E: source.section_data(".debug_str")}
    lines, offset = bytes(source.section_data(".debug_line")), 0
    found: list[Sequence] = []
    folders = cache(lambda: _folders(source))  # of .debug_info, which DWARF 5 does not need
    while offset + 12 <= len(lines):
        begin, reader = offset, Reader(lines, offset)
        length, size = reader.unit_length()
        offset = reader.offset + length
        try:
            header, program = _header(reader, size, strings, partial(_folder, folders, begin))
            found += _run(header, lines, program, offset)
        except (IndexError, ValueError, KeyError):
            break
    return LineTable(found)


def _folder(folders: Callable[[], dict[int, str]], unit: int) -> str:
    return folders().get(unit, "")


def _folders(elf: Elf) -> dict[int, str]:
    """The folder in which each unit was compiled, by where its part of ``.debug_line`` begins."""
    source = elf.with_section(".debug_info")
    found: dict[int, str] = {}
    try:
        for unit in units(source) if source else ():
            found[unit.root.number(LINES)] = unit.text(unit.root, FOLDER)
    except (IndexError, ValueError, KeyError):  # damaged: what was read counts
        pass
    return found


def lines_of_unit(source: Elf, offset: int, folder: str = "") -> LineTable:
    """The line table of one unit, compiled in ``folder``, whose part of ``.debug_line`` begins at ``offset``."""
    return LineTable(_unit(source, offset, folder)[1])


def _unit(source: Elf, offset: int, folder: str, *, every: bool = False) -> tuple[list[str], list[Sequence]]:
    """The names of the files of one unit, and its sequences."""
    strings = {0x1F: source.section_data(".debug_line_str"), 0x0E: source.section_data(".debug_str")}
    lines = source.section_data(".debug_line")
    reader = Reader(lines, offset)
    length, size = reader.unit_length()
    end = reader.offset + length
    header, program = _header(reader, size, strings, lambda: folder)
    return header.names, list(_run(header, lines, program, end, every=every))


class UnitLines(LineTable):
    """The lines of one unit, with rows too at which no debugger stops; ``names`` are its files, perhaps relative."""

    def __init__(self, source: Elf, offset: int) -> None:
        self.names, rows = _unit(source, offset, "", every=True)
        super().__init__(rows)

    def place(self, address: int) -> tuple[str, int] | None:
        """File and line of the code at ``address``; ``None`` where it has none."""
        sequence = self.sequence_at(address)
        row = sequence.row(sequence.at(address)) if sequence else None
        return (row.file, row.line) if row and row.line else None


@frozen
class _Header:
    minimum_length: int
    default_is_statement: bool
    line_base: int
    line_range: int
    opcode_base: int
    operand_counts: bytes
    names: list[str]


def _header(
    reader: Reader, size: int, strings: dict[int, bytes | memoryview], folder: Callable[[], str]
) -> tuple[_Header, int]:
    """The header of a unit, and where its program begins; before DWARF 5 it does not say its ``folder``."""
    version = reader.u16()
    if version >= 5:
        reader.offset += 2  # sizes of an address and of a segment selector
    program_size = reader.sized(size)
    program = reader.offset + program_size
    minimum = reader.u8()
    if version >= 4:
        reader.offset += 1  # operations per instruction: only VLIW has more than one
    is_statement, base, span, opcode_base = bool(reader.u8()), reader.s8(), reader.u8(), reader.u8()
    counts = reader.block(opcode_base - 1)
    names = _names(reader, size, strings) if version >= 5 else _old_names(reader, folder())
    return _Header(minimum, is_statement, base, span, opcode_base, counts, names), program


def _old_names(reader: Reader, folder: str) -> list[str]:
    """Directories and files before DWARF 5; directory 0 is where the compiler ran, which only .debug_info says."""
    directories = [folder]
    while name := reader.string():
        directories.append(posixpath.join(folder, name.decode("utf-8", "replace")))
    names = [""]
    while name := reader.string():
        directory, _, _ = reader.uleb(), reader.uleb(), reader.uleb()
        names.append(_joined(directories, directory, name.decode("utf-8", "replace")))
    return names


def _names(reader: Reader, size: int, strings: dict[int, bytes | memoryview]) -> list[str]:
    directories = [path for path, _ in _entries(reader, size, strings)]
    absolute = [posixpath.join(directories[0], path) for path in directories]
    return [_joined(absolute, directory, path) for path, directory in _entries(reader, size, strings)]


def _joined(directories: list[str], index: int, name: str) -> str:
    directory = directories[index] if index < len(directories) else ""
    return posixpath.normpath(posixpath.join(directory, name))


def _entries(reader: Reader, size: int, strings: dict[int, bytes | memoryview]) -> list[tuple[str, int]]:
    formats = [(reader.uleb(), reader.uleb()) for _ in range(reader.u8())]
    found = []
    for _ in range(reader.uleb()):
        values = {content: _value(reader, form, size, strings) for content, form in formats}
        path, directory = values.get(_PATH, b""), values.get(_DIRECTORY, 0)
        text = path.decode("utf-8", "replace") if isinstance(path, bytes) else ""
        found.append((text, directory if isinstance(directory, int) else 0))
    return found


def _value(reader: Reader, form: int, size: int, strings: dict[int, bytes | memoryview]) -> int | bytes:
    if form == 0x08:  # DW_FORM_string
        return reader.string()
    if form in strings:
        return Reader(strings[form], reader.sized(size)).string()
    if form == 0x0F:  # DW_FORM_udata
        return reader.uleb()
    if form in {0x09, 0x0A}:  # DW_FORM_block, DW_FORM_block1
        return reader.block(reader.uleb() if form == 0x09 else reader.u8())
    return int.from_bytes(reader.block(_FORMS_FIXED[form]), "little")


# One loop over millions of opcodes: calls would double its time.
def _run(  # noqa: C901, PLR0912, PLR0915
    header: _Header, data: bytes | memoryview, offset: int, end: int, *, every: bool = False
) -> Iterator[Sequence]:
    """Run a line number program; a sequence that the linker dropped (it begins at 0) is left out.

    With ``every`` a row that is no statement counts too, but for one at the address of a statement.
    """
    reader = Reader(data)
    base, span, first, minimum = header.line_base, header.line_range, header.opcode_base, header.minimum_length
    steps = [((code - first) // span * minimum, base + (code - first) % span) for code in range(256)]
    constant = steps[255][0]
    addresses, files, lines, ends = array("Q"), array("I"), array("I"), array("I")
    address, file, line, statement = 0, 1, 1, header.default_is_statement
    while offset < end:
        code = data[offset]
        offset += 1
        if code >= first:
            advance, change = steps[code]
            address += advance
            line += change
            if statement or (every and (not addresses or addresses[-1] != address)):
                addresses.append(address)
                files.append(file)
                lines.append(line)
        elif 2 <= code <= 5 or code == 0x0C:  # one LEB128 operand; most are one byte
            value = data[offset]
            offset += 1
            if value >= 0x80 or code == 3:
                reader.offset = offset - 1
                value = reader.sleb() if code == 3 else reader.uleb()
                offset = reader.offset
            if code == 2:
                address += value * minimum
            elif code == 3:
                line += value
            elif code == 4:
                file = value
        elif code == 1:
            if statement or (every and (not addresses or addresses[-1] != address)):
                addresses.append(address)
                files.append(file)
                lines.append(line)
        elif code == 8:
            address += constant
        elif code == 6:
            statement = not statement
        elif code == 9:
            reader.offset = offset
            address += reader.u16()
            offset += 2
        elif code == 0:
            reader.offset = offset
            length = reader.uleb()
            offset = reader.offset + length
            kind = data[reader.offset]
            if kind == 2:
                address = int.from_bytes(data[reader.offset + 1 : offset], "little")
            elif kind == 1:
                addresses.append(address & MASK64)
                files.append(file)
                lines.append(0)
                if addresses[0]:
                    yield Sequence(addresses, files, lines, header.names, ends)
                addresses, files, lines, ends = array("Q"), array("I"), array("I"), array("I")
                address, file, line, statement = 0, 1, 1, header.default_is_statement
        elif code == 0x0A:
            ends.append(len(addresses))
        elif code not in {7, 0x0B}:  # an opcode of the future: its operands are LEB128
            reader.offset = offset
            for _ in range(header.operand_counts[code - 1]):
                reader.uleb()
            offset = reader.offset
