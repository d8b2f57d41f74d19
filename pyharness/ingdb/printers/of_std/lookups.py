"""Looking a key up in a map or set of libstdc++, or a map of torch's: ``rates["low"]``, ``seen.count(3)``.

A library has these functions inlined, and gdb cannot call them. GCC's printers read the elements from memory.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

import gdb
import gdb.xmethod

from pyharness.ingdb.printers import registry
from pyharness.ingdb.printers.of_std.methods import NoValueError
from pyharness.ingdb.tensors.address import plain_type, referred

if TYPE_CHECKING:
    from collections.abc import Iterator

    Key = str | int | float

_KEYED = re.compile(
    r"(?:std::(?:__debug::)?(?:unordered_)?(?:multi)?(map|set)|torch::OrderedDict|ska::flat_hash_map)<.*>"
)
_STRING = re.compile(r"std::(?:__cxx11::)?basic_string<char\b.*>")
_VIEW = re.compile(r"std::basic_string_view<char\b.*>")
_NUMBERS = frozenset({gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_PTR})
_FINDS = ("operator[]", "at")
_COUNTS = ("count", "contains")
_MOST_NAMED = 8


def _is_text(kind: gdb.Type) -> bool:
    return bool(_STRING.fullmatch(kind.name or "") or _VIEW.fullmatch(kind.name or ""))


def _key(value: gdb.Value) -> Key:
    """What a key is in Python; ``TypeError`` for one that is compared in a way of its own."""
    value = referred(value)
    kind = plain_type(value.type)
    if _STRING.fullmatch(kind.name or ""):
        return value["_M_dataplus"]["_M_p"].string("utf-8", "replace", int(value["_M_string_length"]))
    if _VIEW.fullmatch(kind.name or ""):
        return value["_M_str"].string("utf-8", "replace", int(value["_M_len"]))
    if kind.code == gdb.TYPE_CODE_FLT:
        return float(value)
    if kind.code in _NUMBERS:
        return int(value)
    raise TypeError(f"keys of type {kind}")


def _text(value: gdb.Value) -> Key:
    """What was given to look up a text: a text, or characters that end with a zero."""
    kind = plain_type(referred(value).type)
    return _key(value) if _is_text(kind) else referred(value).string("utf-8", "replace")


def _elements(container: gdb.Value) -> Iterator[gdb.Value]:
    children = getattr(registry.printer_of(container), "children", None)
    if children is None:
        raise NoValueError("GCC's printers, which read such a container, are not here.")
    return (child for _, child in children())


def _pairs(container: gdb.Value, *, mapped: bool) -> Iterator[tuple[Key, gdb.Value]]:
    """The keys, each with what it stands for; of a set with itself."""
    elements = _elements(container)
    for element in elements:
        yield _key(element), next(elements) if mapped else element


def _has_values(kind: gdb.Type) -> bool:
    known = _KEYED.fullmatch(kind.tag or "")
    return known is not None and known[1] != "set"


class _Worker(gdb.xmethod.XMethodWorker):
    """One method of one class, for a key of one type."""

    def __init__(self, method: str, kind: gdb.Type, argument: gdb.Type) -> None:
        self._method = method
        self._kind = kind
        self._argument = argument
        self._mapped = _has_values(kind)

    def get_arg_types(self) -> gdb.Type:
        return self._argument

    def get_result_type(self, *_values: gdb.Value) -> gdb.Type:
        if self._method in _FINDS:
            return self._kind.template_argument(1)
        return gdb.lookup_type("bool" if self._method == "contains" else "unsigned long")

    def __call__(self, *args: gdb.Value) -> Any:
        this, given = args
        container = this.dereference() if this.type.code == gdb.TYPE_CODE_PTR else this
        key = _text(given) if _is_text(_key_type(self._kind)) else _key(given)
        found = (value for known, value in _pairs(container, mapped=self._mapped) if known == key)
        if self._method in _COUNTS:
            return gdb.Value(sum(1 for _ in found)).cast(self.get_result_type())
        first = next(found, None)
        if first is None:
            raise NoValueError(self._no_such(container, key))
        return first

    def _no_such(self, container: gdb.Value, key: Key) -> str:
        known = [_shown(each) for each, _ in islice(_pairs(container, mapped=True), _MOST_NAMED + 1)]
        more = ", ..." if len(known) > _MOST_NAMED else ""
        return f"There is no key {_shown(key)}. It has {', '.join(known[:_MOST_NAMED]) or 'none'}{more}."


def _shown(key: Key) -> str:
    return f'"{key}"' if isinstance(key, str) else str(key)


def _key_type(kind: gdb.Type) -> gdb.Type:
    key = kind.template_argument(0)
    return plain_type(key) if isinstance(key, gdb.Type) else kind


class _Matcher(gdb.xmethod.XMethodMatcher):
    """The methods of maps and sets that take a key."""

    def __init__(self) -> None:
        super().__init__("pyharness::keys")
        self.methods = [gdb.xmethod.XMethod(name) for name in (*_FINDS, *_COUNTS)]

    def match(self, class_type: gdb.Type, method: str) -> Any:
        known = _KEYED.fullmatch(class_type.tag or "")
        if not known or method not in (*(_FINDS if _has_values(class_type) else ()), *_COUNTS):
            return None
        key = _key_type(class_type)
        if _is_text(key):
            return [_Worker(method, class_type, kind) for kind in (gdb.lookup_type("char").const().pointer(), key)]
        return _Worker(method, class_type, key) if key.code in {*_NUMBERS, gdb.TYPE_CODE_FLT} else None


def matcher() -> gdb.xmethod.XMethodMatcher:
    """What gdb asks."""
    return _Matcher()
