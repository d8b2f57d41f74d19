"""The attributes of a Python object from memory: its ``__dict__`` wherever it is kept, and its slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.python.values import Values

    Attributes = list[tuple[str, int]]

MAX_ATTRIBUTES = 1000
_HEAP_TYPE, _MANAGED, _INLINE = 1 << 9, 1 << 4, 1 << 2
_WORD = 8
_MAX_BASES = 20
_MAX_NAME = 200
# PyMemberDef, the same in every version: name, type, offset; types of members that are objects.
_MEMBER_TYPE, _MEMBER_OFFSET, _OBJECTS = 8, 16, frozenset({6, 16})


def attributes(values: Values, address: int) -> Attributes:
    """Names and addresses of what ``__dict__`` and ``__slots__`` hold, in the order in which they were set."""
    kind = values.memory.pointer(address + values.layout["object.ob_type"])
    found = dict(_slots(values, address, kind))
    found.update(_instance_dict(values, address, kind))
    return list(found.items())[:MAX_ATTRIBUTES]


def string_items(values: Values, address: int, limit: int = MAX_ATTRIBUTES) -> Attributes:
    """The entries of the dict at ``address`` whose keys are text."""
    _, entries = values.dict_items(address, limit)
    return [(values.string(key, _MAX_NAME), value) for key, value in entries if values.type_of(key)[1][0] == "str"]


def type_module(values: Values, address: int) -> str:
    """``__module__`` of the type of the object at ``address``; empty where its name has it, or it has none."""
    kind = values.memory.pointer(address + values.layout["object.ob_type"])
    return module_of(values, kind)


def module_of(values: Values, kind: int) -> str:
    """``__module__`` of the type at ``kind``."""
    try:
        if not values.memory.unsigned(kind + values.layout["type.tp_flags"]) & _HEAP_TYPE:
            return ""
        entries = string_items(values, values.memory.pointer(kind + values.layout["type.tp_dict"]), 40)
        found = dict(entries).get("__module__")
        return values.string(found, _MAX_NAME) if found and "str" in values.type_of(found)[1] else ""
    except UnreadableError:
        return ""


def bases(values: Values, address: int) -> Iterator[tuple[str, int]]:
    """Qualified names and addresses of an object's type and its (first) bases."""
    kind = values.memory.pointer(address + values.layout["object.ob_type"])
    for _ in range(_MAX_BASES):
        if not kind:
            return
        name = values.memory.text(values.memory.pointer(kind + values.layout["type.tp_name"]), _MAX_NAME)
        module = module_of(values, kind) if "." not in name else ""
        yield f"{module}.{name}" if module else name, kind
        kind = values.memory.pointer(kind + values.layout["type.tp_base"])


def _instance_dict(values: Values, address: int, kind: int) -> Attributes:
    flags = values.memory.unsigned(kind + values.layout["type.tp_flags"])
    version = values.layout.version
    if flags & _MANAGED and version >= (3, 11):
        return _managed(values, address, kind, flags)
    offset = values.memory.signed(kind + values.layout["type.tp_dictoffset"])
    if offset <= 0:  # none, or after a variable number of items
        return []
    held = values.memory.pointer(address + offset)
    return string_items(values, held) if held else []


def _managed(values: Values, address: int, kind: int, flags: int) -> Attributes:
    """Since 3.11 before the object: a dict, or the bare values of one whose keys are the type's."""
    version, memory = values.layout.version, values.memory
    before = 1 if values.layout.free_threaded else 3  # the collector keeps two words between, where there is a GIL
    held = memory.pointer(address - before * _WORD)
    if version == (3, 11):
        bare = memory.pointer(address - 4 * _WORD)
        return _shared_keys(values, kind, bare) if bare else string_items(values, held) if held else []
    if version == (3, 12):  # an odd pointer is one less than that of bare values
        return _shared_keys(values, kind, held + 1) if held & 1 else string_items(values, held) if held else []
    if held:
        return string_items(values, held)
    if not flags & _INLINE:
        return []
    return _shared_keys(values, kind, address + memory.signed(kind + values.layout["type.tp_basicsize"]))


def _shared_keys(values: Values, kind: int, bare: int) -> Attributes:
    keys = values.memory.pointer(kind + values.layout["type.cached_keys"])
    if not keys:
        return []
    first = bare + values.layout["dictvalues.values"]
    entries = values.key_entries(keys, first, MAX_ATTRIBUTES)
    return [(values.string(key, _MAX_NAME), value) for key, value in entries]


def _slots(values: Values, address: int, kind: int) -> Iterator[tuple[str, int]]:
    """Members that ``__slots__`` of the type and its bases made."""
    for _ in range(_MAX_BASES):
        if not kind or not values.memory.unsigned(kind + values.layout["type.tp_flags"]) & _HEAP_TYPE:
            return
        for name, entry in string_items(values, values.memory.pointer(kind + values.layout["type.tp_dict"])):
            if values.type_of(entry)[1][0] == "member_descriptor":
                yield from _slot(values, address, name, entry)
        kind = values.memory.pointer(kind + values.layout["type.tp_base"])


def _slot(values: Values, address: int, name: str, descriptor: int) -> Iterator[tuple[str, int]]:
    member = values.memory.pointer(descriptor + values.layout["descriptor.member"])
    if values.memory.signed(member + _MEMBER_TYPE, 4) not in _OBJECTS:
        return
    held = values.memory.pointer(address + values.memory.signed(member + _MEMBER_OFFSET))
    if held:
        yield name, held
