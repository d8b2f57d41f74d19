"""Python objects as short text, from memory alone: no call into the process, no trust in what a pointer points to."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from pyharness.reading.process.memory import Memory, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.reading.python.layout import Layout

    Hook = Callable[["Values", int, tuple[str, ...]], str | None]

MAX_TEXT = 60
MAX_ITEMS = 5
MAX_DEPTH = 2
WHOLE_TEXT, WHOLE_ITEMS = 1 << 16, 100
"""For who wants a value itself and not a line of a view."""
MAX_DIGITS = 40
_INT, _LIST, _TUPLE, _BYTES, _STR, _DICT, _TYPE = (1 << bit for bit in (24, 25, 26, 27, 28, 29, 31))

_hooks: list[Hook] = []


def hook(function: Hook) -> Hook:
    """Register a describer of foreign types (decorator).

    It gets the `Values`, the object's address and its type names from the type to its oldest base; ``None`` declines.
    """
    _hooks.append(function)
    return function


def describe(read: Callable[[int, int], bytes], address: int, layout: Layout) -> str:
    """One short line for the object at ``address``."""
    return Values(Memory(read), layout).describe(address)


class Values:
    """Reads objects of one interpreter."""

    def __init__(self, memory: Memory, layout: Layout, *, text: int = MAX_TEXT, items: int = MAX_ITEMS) -> None:
        self.memory = memory
        self.layout = layout
        self._text = text
        """Characters that are told of a text; one inside a collection is always short."""
        self._items = items
        self._types: dict[int, tuple[int, tuple[str, ...]]] = {}

    def whole(self) -> Values:
        """One that tells much more of each value."""
        return Values(self.memory, self.layout, text=WHOLE_TEXT, items=WHOLE_ITEMS)

    def describe(self, address: int, depth: int = 0) -> str:
        """One short line; a placeholder with the address where the object cannot be read."""
        if not address:
            return "<unset>"
        try:
            flags, names = self.type_of(address)
            for function in _hooks:
                text = function(self, address, names)
                if text is not None:
                    return text
            return self._builtin(address, flags, names, depth)
        except UnreadableError:
            return f"<unreadable object at {address:#x}>"

    def type_of(self, address: int) -> tuple[int, tuple[str, ...]]:
        """Flags of the object's type, and its name with those of its bases."""
        kind = self.memory.pointer(address + self.layout["object.ob_type"])
        if kind not in self._types:
            flags = self.memory.unsigned(kind + self.layout["type.tp_flags"])
            self._types[kind] = flags, tuple(self._type_names(kind))
        return self._types[kind]

    def _type_names(self, kind: int) -> Iterator[str]:
        for _ in range(20):
            if not kind:
                return
            name = self.memory.text(self.memory.pointer(kind + self.layout["type.tp_name"]), 200)
            if not name.isprintable():
                raise UnreadableError("a type without a name")
            yield name
            kind = self.memory.pointer(kind + self.layout["type.tp_base"])

    def _builtin(self, address: int, flags: int, names: tuple[str, ...], depth: int) -> str:
        name = names[0]
        if name in {"set", "frozenset"}:
            return self._collection(f"{name}({{", self.set_items(address, self._items), "})", depth)
        if name in {"NoneType", "bool", "float"}:
            return self._scalar(address, name)
        for flag, text in self._FLAGGED:
            if flags & flag:
                shown = text(self, address, depth)
                return shown if name in self._EXACT else f"{name}({shown})"
        if flags & _TYPE:
            return f"<class {self.memory.text(self.memory.pointer(address + self.layout['type.tp_name']))}>"
        return f"<{name} at {address:#x}>"

    def _scalar(self, address: int, name: str) -> str:
        if name == "float":
            return repr(struct.unpack("<d", self.memory.read(address + self.layout["float.ob_fval"], 8))[0])
        return str(bool(self.integer(address))) if name == "bool" else "None"

    _EXACT = frozenset({"int", "str", "bytes", "list", "tuple", "dict"})

    def integer(self, address: int) -> int:
        """An int; `UnreadableError` beyond `MAX_DIGITS` 30-bit digits."""
        digits_at = address + self.layout["int.ob_digit"]
        if "int.tag" in self.layout:
            tag = self.memory.unsigned(address + self.layout["int.tag"])
            count, sign = tag >> 3, (1, 0, -1, 0)[tag & 3]
        else:
            size = self.memory.signed(address + self.layout["int.ob_size"])
            count, sign = abs(size), (size > 0) - (size < 0)
        if count > MAX_DIGITS:
            raise UnreadableError("a huge int")
        digits = struct.unpack(f"<{count}I", self.memory.read(digits_at, 4 * count)) if count else ()
        total: int = sum(digit << 30 * place for place, digit in enumerate(digits))
        return sign * total

    def string(self, address: int, limit: int = 4096) -> str:
        """The text of a str, cut at ``limit`` characters."""
        length = self.memory.signed(address + self.layout["str.length"])
        state = self.memory.unsigned(address + self.layout["str.state"], 4)
        width, compact, ascii_only = state >> 2 & 7, state >> 5 & 1, state >> 6 & 1
        if length < 0 or width not in {1, 2, 4}:
            raise UnreadableError("not a str")
        if not compact:
            data = self.memory.pointer(address + self.layout["str.data_pointer"])
        else:
            data = address + self.layout["str.ascii_data" if ascii_only else "str.compact_data"]
        raw = self.memory.read(data, min(length, limit) * width) if length else b""
        return raw.decode({1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}[width], "replace")

    def byte_string(self, address: int, limit: int = 1 << 20) -> bytes:
        """The bytes of a bytes object, cut at ``limit``."""
        size = self.memory.signed(address + self.layout["bytes.ob_size"])
        if size < 0:
            raise UnreadableError("not bytes")
        return self.memory.read(address + self.layout["bytes.ob_sval"], min(size, limit)) if size else b""

    def sequence(self, address: int, limit: int = 4096, *, kind: str = "tuple") -> tuple[int, list[int]]:
        """Length, and the addresses of the first ``limit`` items, of a tuple or list."""
        count = self.memory.signed(address + self.layout[f"{kind}.ob_size"])
        if not 0 <= count < 1 << 40:
            raise UnreadableError(f"not a {kind}")
        items = address + self.layout[f"{kind}.ob_item"]
        if kind == "list" and count:
            items = self.memory.pointer(items)
        shown = min(count, limit)
        raw = self.memory.read(items, 8 * shown) if shown else b""
        return count, list(struct.unpack(f"<{shown}Q", raw))

    def _int_text(self, address: int, _depth: int) -> str:
        try:
            return str(self.integer(address))
        except UnreadableError:
            return f"<int of many digits at {address:#x}>"

    def _str_text(self, address: int, depth: int) -> str:
        return _cut(self.string(address, self._limit(depth) + 1), self._limit(depth))

    def _bytes_text(self, address: int, depth: int) -> str:
        return _cut(self.byte_string(address, self._limit(depth) + 1), self._limit(depth))

    def _limit(self, depth: int) -> int:
        return MAX_TEXT if depth else self._text

    def _list_text(self, address: int, depth: int) -> str:
        return self._collection("[", self.sequence(address, self._items, kind="list"), "]", depth)

    def _tuple_text(self, address: int, depth: int) -> str:
        count, items = self.sequence(address, self._items)
        return self._collection("(", (count, items), ",)" if count == 1 else ")", depth)

    def _collection(self, start: str, found: tuple[int, list[int]], end: str, depth: int) -> str:
        count, items = found
        if depth >= MAX_DEPTH and count:
            return f"{start}…{count} items{end.lstrip(',')}"
        shown = [self.describe(item, depth + 1) for item in items]
        return start + ", ".join(shown + [f"…{count} items"] * (count > len(items))) + end

    def _dict_text(self, address: int, depth: int) -> str:
        count, items = self.dict_items(address, self._items)
        if depth >= MAX_DEPTH and count:
            return f"{{…{count} items}}"
        shown = [f"{self.describe(key, depth + 1)}: {self.describe(value, depth + 1)}" for key, value in items]
        return "{" + ", ".join(shown + [f"…{count} items"] * (count > len(items))) + "}"

    def dict_items(self, address: int, limit: int) -> tuple[int, list[tuple[int, int]]]:
        """Length, and key and value addresses of the first ``limit`` entries, in order of insertion."""
        count = self.memory.signed(address + self.layout["dict.ma_used"])
        keys = self.memory.pointer(address + self.layout["dict.ma_keys"])
        values = self.memory.pointer(address + self.layout["dict.ma_values"])
        return count, self.key_entries(keys, values and values + self.layout["dictvalues.values"], limit)

    def key_entries(self, keys: int, values: int, limit: int) -> list[tuple[int, int]]:
        """Key and value addresses of a table of keys; ``values`` is where they lie apart, in its order, or 0."""
        found: list[tuple[int, int]] = []
        start, width, entries = self._dict_entries(keys)
        for index in range(min(entries, 16 * limit + 64)):
            entry = start + width * index + width - 16
            key = self.memory.pointer(entry)
            value = self.memory.pointer(values + 8 * index if values else entry + 8)
            if key and value and len(found) < limit:
                found.append((key, value))
        return found

    def _dict_entries(self, keys: int) -> tuple[int, int, int]:
        """Address of the first entry, bytes an entry, number of entries."""
        count = self.memory.signed(keys + self.layout["keys.nentries"])
        indices = keys + self.layout["keys.indices"]
        if "keys.size" in self.layout:
            size = self.memory.unsigned(keys + self.layout["keys.size"])
            index_width = next(width for width in (1, 2, 4, 8) if size < 1 << 8 * width)
            return indices + size * index_width, 24, count
        index_bytes = 1 << min(self.memory.unsigned(keys + self.layout["keys.log2_index_bytes"], 1), 40)
        hashed = self.memory.unsigned(keys + self.layout["keys.kind"], 1) == 0
        return indices + index_bytes, 24 if hashed else 16, count

    def set_items(self, address: int, limit: int) -> tuple[int, list[int]]:
        """Length, and addresses of some items, at most ``limit``, of a set."""
        count = self.memory.signed(address + self.layout["set.used"])
        slots = self.memory.signed(address + self.layout["set.mask"]) + 1
        table = self.memory.pointer(address + self.layout["set.table"])
        if count < 0 or slots < 1:
            raise UnreadableError("not a set")
        found: list[int] = []
        for slot in range(min(slots, 256 + 32 * limit)):
            key, hashed = struct.unpack("<Qq", self.memory.read(table + 16 * slot, 16))
            if key and hashed != -1 and len(found) < limit:  # -1 marks a removed key
                found.append(key)
        return count, found

    _FLAGGED = (
        (_INT, _int_text),
        (_STR, _str_text),
        (_BYTES, _bytes_text),
        (_LIST, _list_text),
        (_TUPLE, _tuple_text),
        (_DICT, _dict_text),
    )


def _cut(text: str | bytes, limit: int) -> str:
    return repr(text) if len(text) <= limit else f"{text[:limit]!r}…"
