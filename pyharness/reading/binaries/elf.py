"""An ELF file as it lies on the disk: sections, segments, build-id and symbols, read through mmap.

Nothing is indexed: a library of 400 MB and 600,000 symbols opens in microseconds, and a question costs what it
asks for. Layouts: the System V ABI (gABI), "ELF-64 Object File Format".
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.reading.binaries import zstd
from pyharness.reading.binaries.symbol_table import HashTable, SymbolTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.reading.binaries.symbol_table import Symbol

_X86_64 = 62
"""The ELF machine of what runs here."""
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_COMPRESSED = 0x800
_COMPRESSION = struct.Struct("<IxxxxQ8x")
"""What stands before a compressed section: its kind, and the size that it has when it is not."""
_ZSTD = 2
_NOTHING_IN_FILE = 8
_NT_GNU_BUILD_ID = 3

PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_GNU_EH_FRAME = 1, 2, 4, 0x6474E550
ET_CORE = 4
MAX_HEADERS = 100_000


class ElfError(HarnessError):
    """A file that is no ELF file of this machine, or a damaged one."""


@frozen
class Section:
    """One entry of the section header table."""

    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


@frozen
class Segment:
    """One entry of the program header table."""

    type: int
    flags: int
    offset: int
    address: int
    file_size: int
    memory_size: int


class Elf:
    """A 64-bit little-endian ELF file; addresses are the file's own, without a load bias."""

    def __init__(self, path: str, data: bytes | None = None) -> None:
        """``data`` is what there is of one that lies in memory only."""
        self.path = path
        self.inode, self.modified = (0, 0), 0
        self.data: mmap.mmap | bytes = self._mapped() if data is None else data
        if self.data[:6] != b"\x7fELF\x02\x01" or len(self.data) < _HEADER.size:
            raise ElfError(f"{path} is not a 64-bit little-endian ELF file", "Only x86-64 Linux is supported.")
        header = _HEADER.unpack_from(self.data)
        if header[2] != _X86_64:
            raise ElfError(
                f"{path} is for another processor: its ELF machine is {header[2]}", "Only x86-64 Linux is supported."
            )
        self.type: int = header[1]
        self._segments_at, self._segment_count = header[5], header[10]
        self._sections_at, self._section_count, self._names_index = header[6], header[12], header[13]

    def _mapped(self) -> mmap.mmap:
        try:
            # A pipe that lies there by now would keep its reader waiting for ever.
            with open(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:  # noqa: PTH123
                status = os.fstat(stream.fileno())
                self.inode, self.modified = (status.st_dev, status.st_ino), status.st_mtime_ns
                return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            why = "Is the file still where the program loaded it from?"
            raise ElfError(f"cannot read {self.path}: {error}", why) from error

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The program headers."""
        return tuple(read_segments(self.data, self._segments_at, self._segment_count))

    @property
    def is_cut_short(self) -> bool:
        """Whether the file ends before its section headers, or before what a segment has in it."""
        ends = [segment.offset + segment.file_size for segment in self.segments]
        if self._sections_at:
            ends.append(self._sections_at + self._section_count * _SECTION.size)
        least: int = max([self._segments_at + self._segment_count * _SEGMENT.size, *ends])
        return len(self.data) < least

    @cached_property
    def sections(self) -> dict[str, Section]:
        """The sections by name; empty for a file whose section headers are stripped off."""
        raw = [_SECTION.unpack_from(self.data, offset) for offset in self._section_offsets()]
        if self._names_index >= len(raw):
            return {}
        names = raw[self._names_index][4]
        sections = (Section(self._text(names + row[0]), row[1], row[2], *row[3:7]) for row in raw)
        return {section.name: section for section in sections}

    def _section_offsets(self) -> Iterator[int]:
        end = min(len(self.data), self._sections_at + self._section_count * _SECTION.size)
        return iter(range(self._sections_at, end - _SECTION.size + 1, _SECTION.size) if self._sections_at else ())

    def _text(self, offset: int) -> str:
        return self.data[offset : self.data.find(b"\0", offset)].decode("utf-8", "replace")

    def section_data(self, name: str) -> bytes | memoryview:
        """Contents of a section, decompressed; empty where there is none."""
        section = self.sections.get(name)
        if section is None or section.type == _NOTHING_IN_FILE:
            legacy = self.sections.get(".z" + name[1:])
            return zlib.decompress(self._raw(legacy)[12:]) if legacy else b""
        raw = self._raw(section)
        if not section.flags & _COMPRESSED:
            return raw
        kind, size = _COMPRESSION.unpack_from(raw)
        packed = raw[_COMPRESSION.size :]
        try:
            return zstd.decompress(bytes(packed), size) if kind == _ZSTD else zlib.decompress(packed)
        except zstd.NoZstdError as error:
            remedy = "Install libzstd (apt-get install libzstd1), or compress debug sections with zlib (-gz=zlib)."
            raise ElfError(f"{name} of {self.path} is compressed with zstd, and {error}.", remedy) from error
        except (ValueError, zlib.error) as error:
            raise ElfError(f"{name} of {self.path} cannot be decompressed: {error}.") from error

    def _raw(self, section: Section) -> memoryview:
        return memoryview(self.data)[section.offset : section.offset + section.size]

    def offset_of(self, address: int) -> int | None:
        """Where in the file the byte of ``address`` lies."""
        for segment in self.segments:
            if segment.type == PT_LOAD and 0 <= address - segment.address < segment.file_size:
                return address - segment.address + segment.offset
        return None

    @property
    def base(self) -> int:
        """Lowest address of the image (0 in a shared library), a page boundary."""
        return base_of(self.segments)

    @cached_property
    def build_id(self) -> str:
        """The GNU build-id in hex, empty where the linker wrote none."""
        for segment in self.segments:
            if segment.type == PT_NOTE:
                found = build_id_in(self.data[segment.offset : segment.offset + segment.file_size])
                if found:
                    return found
        return ""

    @cached_property
    def symbol_tables(self) -> tuple[SymbolTable, ...]:
        """``.symtab`` first (it knows more), then ``.dynsym``; those of a separate debug file too."""
        tables = [table for table in (self._table(".symtab", ".strtab"), self._table(".dynsym", ".dynstr")) if table]
        if ".symtab" not in self.sections and (debug := self.debug_file):
            tables = [*debug.symbol_tables, *tables]
        return tuple(tables)

    def _table(self, symbols: str, strings: str) -> SymbolTable | None:
        table, names = self.sections.get(symbols), self.sections.get(strings)
        if table is None or names is None or _NOTHING_IN_FILE in {table.type, names.type}:
            return None
        return SymbolTable(self.data, table.offset, table.size, names.offset, names.size)

    def symbol(self, name: str) -> int | None:
        """Address of the symbol with exactly this (mangled) name, or ``None``."""
        wanted = name.encode()
        found = self.exported(wanted)
        if found is not None:
            return found.address
        return next((found.address for table in self.symbol_tables if (found := table.named(wanted))), None)

    def exported(self, name: bytes) -> Symbol | None:
        """What the dynamic linker finds by this (mangled) name, or ``None``."""
        return self._hash_table.find(name) if self._hash_table else None

    @cached_property
    def _hash_table(self) -> HashTable | None:
        hashed, dynamic = self.sections.get(".gnu.hash"), self._table(".dynsym", ".dynstr")
        return HashTable(self.data, hashed.offset, dynamic) if hashed and dynamic else None

    def wanted(self) -> Iterator[bytes]:
        """The (mangled) names that other libraries must define for this one to load: undefined and not weak."""
        table = self._table(".dynsym", ".dynstr")
        return table.undefined() if table else iter(())

    @cached_property
    def debug_file(self) -> Elf | None:
        """The separate file that holds the symbols and the debug information, or ``None``."""
        for path in self._debug_paths():
            if os.path.isfile(path):  # noqa: PTH113  (a Path here costs more than the test)
                try:
                    found = Elf(path)
                except ElfError:
                    continue
                if found.build_id == self.build_id:
                    return found
        return None

    def _debug_paths(self) -> Iterator[str]:
        if self.build_id:
            yield f"/usr/lib/debug/.build-id/{self.build_id[:2]}/{self.build_id[2:]}.debug"
        link = bytes(self.section_data(".gnu_debuglink")).split(b"\0", 1)[0].decode("utf-8", "replace")
        if link:
            folder = Path(self.path).resolve().parent
            yield str(folder / link)
            yield str(folder / ".debug" / link)
            yield f"/usr/lib/debug{folder}/{link}"

    def with_section(self, name: str) -> Elf | None:
        """The file itself or its debug file, whichever holds section ``name``; ``None`` where neither does."""
        for elf in (self, self.debug_file):
            found = (elf.sections.get(name) or elf.sections.get(f".z{name[1:]}")) if elf else None
            if found and found.type != _NOTHING_IN_FILE:
                return elf
        return None


def read_segments(data: bytes | mmap.mmap, offset: int, count: int) -> Iterator[Segment]:
    """Decode ``count`` program headers from ``offset``."""
    for index in range(min(count, MAX_HEADERS, (len(data) - offset) // _SEGMENT.size)):
        row = _SEGMENT.unpack_from(data, offset + index * _SEGMENT.size)
        yield Segment(row[0], row[1], row[2], row[3], row[5], row[6])


def base_of(segments: Iterable[Segment]) -> int:
    """Lowest address of an image with these segments, a page boundary."""
    return min((part.address & -4096 for part in segments if part.type == PT_LOAD), default=0)


def build_id_in(notes: bytes) -> str:
    """The GNU build-id among ELF notes, in hex, or an empty string."""
    return next(
        (data.hex() for owner, kind, data in notes_in(notes) if owner == b"GNU" and kind == _NT_GNU_BUILD_ID), ""
    )


def notes_in(notes: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """Every note: (owner, type, contents)."""
    offset = 0
    while offset + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, offset)
        start = offset + 12 + (name_size + 3 & -4)
        yield notes[offset + 12 : offset + 12 + name_size].rstrip(b"\0"), kind, notes[start : start + size]
        offset = start + (size + 3 & -4)


@lru_cache(maxsize=512)
def _opened(path: str, _modified: int, _size: int) -> Elf:
    return Elf(path)


def open_elf(path: str) -> Elf:
    """The ELF file at ``path``, opened once until it changes; ``ElfError`` where it is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  (called for each library: a Path costs more than the call)
    except OSError as error:
        raise ElfError(f"cannot read {path}: {error}", "Is the file still where the program loaded it from?") from error
    return _opened(path, status.st_mtime_ns, status.st_size)
