"""Questions to an ELF symbol table that are answered by searching its bytes: no index is built.

A table of 520,000 symbols (libtorch_cpu) is 12 MB. The column of the values (their low words: 2 MB) is cut out in
20 ms, and finding the entry of a given value is one ``bytes.find`` of 1-2 ms; an index would cost half a second.
"""

from __future__ import annotations

import struct
from array import array
from functools import cached_property
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from mmap import mmap

_ENTRY = struct.Struct("<IBBHQQ")
_FUNCTIONS = {2, 10}  # STT_FUNC, STT_GNU_IFUNC
_LOCAL, _GLOBAL = 0, 1
_MOST_NAMES = 20_000
_MOST_KEPT = 4096
"""Addresses whose function is remembered."""
_FARTHEST = 1 << 20
"""How far before an address a function that contains it is looked for."""


@frozen
class Symbol:
    """One defined symbol; ``address`` is without load bias."""

    name: bytes
    address: int
    size: int
    is_function: bool
    is_local: bool


class SymbolTable:
    """``.symtab`` or ``.dynsym`` with its strings, at their offsets in ``data``."""

    def __init__(self, data: mmap | bytes, offset: int, size: int, names_offset: int, names_size: int) -> None:
        self._data, self._offset, self._size = data, offset, size
        self._names_offset, self._names_size = names_offset, names_size
        self._containing: dict[int, Symbol | None] = {}
        """Address → what ``containing`` has found: the whole table is looked through for each."""

    @cached_property
    def _columns(self) -> tuple[bytes, bytes]:
        """The low words of all values, and the offsets of all names."""
        words = array("I")
        words.frombytes(memoryview(self._data)[self._offset : self._offset + self._size // _ENTRY.size * _ENTRY.size])
        return words[2 :: _ENTRY.size // 4].tobytes(), words[0 :: _ENTRY.size // 4].tobytes()

    def __getitem__(self, index: int) -> Symbol:
        name, info, _, _, address, size = _ENTRY.unpack_from(self._data, self._offset + index * _ENTRY.size)
        return Symbol(self._name(name), address, size, info & 0xF in _FUNCTIONS, info >> 4 == _LOCAL)

    def _name(self, offset: int) -> bytes:
        start = self._names_offset + offset
        return self._data[start : self._data.find(b"\0", start)]

    def functions(self) -> Iterator[Symbol]:
        """Every defined function."""
        end = self._offset + self._size // _ENTRY.size * _ENTRY.size
        for name, info, _, section, address, size in _ENTRY.iter_unpack(self._data[self._offset : end]):
            if info & 0xF in _FUNCTIONS and section:
                yield Symbol(self._name(name), address, size, is_function=True, is_local=info >> 4 == _LOCAL)

    def __len__(self) -> int:
        return self._size // _ENTRY.size

    def function_addresses(self) -> list[int]:
        """Where each defined function begins, in order: a tenth of the time of ``functions``."""
        end = self._offset + len(self) * _ENTRY.size
        rows = _ENTRY.iter_unpack(self._data[self._offset : end])
        return sorted(address for _, info, _, section, address, _ in rows if section and info & 0xF in _FUNCTIONS)

    def undefined(self) -> Iterator[bytes]:
        """Names of global symbols that another file defines."""
        end = self._offset + self._size // _ENTRY.size * _ENTRY.size
        for name, info, _, section, _, _ in _ENTRY.iter_unpack(self._data[self._offset : end]):
            if info >> 4 == _GLOBAL and not section:
                yield self._name(name)

    def starting_at(self, address: int) -> Symbol | None:
        """A function whose first byte is at ``address``; of those that share it the one whose name is for others."""
        entries = _occurrences(self._columns[0], struct.pack("<I", address & 0xFFFFFFFF))
        found = [
            symbol for symbol in map(self.__getitem__, entries) if symbol.is_function and symbol.address == address
        ]
        return min(found, key=_inwardness, default=None)

    def named(self, name: bytes) -> Symbol | None:
        """The defined symbol of this exact name."""
        # Not "\\0name\\0": the linker lets a name share the end of a longer one.
        at = (self._at_name(hit) for hit in self._names_with(name + b"\0"))
        return next((symbol for symbols in at for symbol in symbols), None) if name else None

    def with_name_containing(self, part: bytes, accept: Callable[[bytes], bool]) -> Iterator[Symbol]:
        """Defined symbols in whose names ``part`` occurs, of those that ``accept`` takes."""
        end = -1
        for hit in self._names_with(part):
            if hit > end:
                start = self._data.rfind(b"\0", self._names_offset, hit) + 1
                end = self._data.find(b"\0", hit)
                if accept(self._data[start:end]):
                    yield from self._at_name(start)

    def _names_with(self, part: bytes) -> Iterator[int]:
        """Where ``part`` occurs in the strings."""
        end = self._names_offset + self._names_size
        hit = self._data.find(part, self._names_offset, end)
        for _ in range(_MOST_NAMES):
            if hit < 0:
                return
            yield hit
            hit = self._data.find(part, hit + 1, end)

    def _at_name(self, offset: int) -> Iterator[Symbol]:
        """The defined symbols whose name begins at an offset in the file."""
        for index in _occurrences(self._columns[1], struct.pack("<I", offset - self._names_offset)):
            if (symbol := self[index]).address:
                yield symbol

    def containing(self, address: int) -> Symbol | None:
        """The function that ``address`` lies in, by the sizes in the table."""
        if address not in self._containing:
            if len(self._containing) >= _MOST_KEPT:
                self._containing.clear()
            self._containing[address] = self._looked_for(address)
        return self._containing[address]

    def _looked_for(self, address: int) -> Symbol | None:
        values = array("I")
        values.frombytes(self._columns[0])
        lowest = address - _FARTHEST
        near = {index: value for index, value in enumerate(values) if lowest <= value <= address}
        for index in sorted(near, key=near.__getitem__, reverse=True):
            symbol = self[index]
            if symbol.is_function and symbol.address <= address < symbol.address + symbol.size:
                return symbol
        return None


def _inwardness(symbol: Symbol) -> tuple[bool, bool, int]:
    """What sorts aliases: ``pthread_cond_wait`` before ``__GI___pthread_cond_wait``; a compiler's clones come last."""
    name = symbol.name
    plain = name.lstrip(b"_")
    return symbol.is_local, b"." in name, 0 if name.startswith(b"_Z") else len(name) - len(plain)


def _occurrences(column: bytes, word: bytes) -> Iterator[int]:
    at = column.find(word)
    while at >= 0:
        if at % 4 == 0:
            yield at // 4
        at = column.find(word, at + 1)


class HashTable:
    """``.gnu.hash`` of a dynamic symbol table: a name in a handful of reads.

    Layout: "ELF: symbol lookup via DT_GNU_HASH"; the hash is Bernstein's, times 33, from 5381.
    """

    def __init__(self, data: mmap | bytes, offset: int, symbols: SymbolTable) -> None:
        self._data, self._symbols = data, symbols
        self._buckets, self._first, bloom_words, _ = struct.unpack_from("<4I", data, offset)
        self._buckets_at = offset + 16 + 8 * bloom_words
        self._chain_at = self._buckets_at + 4 * self._buckets

    def find(self, name: bytes) -> Symbol | None:
        """The defined symbol of this name, or ``None``."""
        if not self._buckets:
            return None
        hashed = 5381
        for byte in name:
            hashed = (hashed * 33 + byte) & 0xFFFFFFFF
        index = self._word(self._buckets_at + 4 * (hashed % self._buckets))
        while index >= self._first:
            link = self._word(self._chain_at + 4 * (index - self._first))
            if link | 1 == hashed | 1 and (symbol := self._symbols[index]).name == name:
                return symbol
            if link & 1:
                return None
            index += 1
        return None

    def _word(self, offset: int) -> int:
        (word,) = struct.unpack_from("<I", self._data, offset)
        return int(word)
