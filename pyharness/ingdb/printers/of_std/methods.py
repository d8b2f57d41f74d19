"""What can be computed with types of libstdc++ of which GCC's own xmethods say nothing: texts, views, optionals.

Read from memory, where a library has these functions inlined or not at all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

import gdb
import gdb.xmethod

from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.members import number_in

if TYPE_CHECKING:
    from collections.abc import Callable

    Computes = Callable[..., Any]
    Kind = Callable[[gdb.Type], gdb.Type]
    Methods = dict[str, tuple[str | Kind, Computes]]

_BOOL, _COUNT = "bool", "unsigned long"
_INDICES = {"operator[]": (1,), "at": (1,), "coeff": (1, 2)}
"""How many indices a method may take, where it takes any."""
_ANY_FAILURE = "Error while executing Python code."


class NoValueError(gdb.GdbError):
    """A method has no value for what it was given.

    gdb writes the text to its own log, and tells whoever asked that some Python has failed.
    """

    said: ClassVar[str] = ""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        NoValueError.said = text


def reason(error: gdb.error) -> str:
    """What the method said that ``error`` comes of; empty for an error of another kind."""
    said, NoValueError.said = NoValueError.said, ""
    return said if str(error).strip() == _ANY_FAILURE else ""


class _Worker(gdb.xmethod.XMethodWorker):
    """One method of one class."""

    def __init__(self, result: gdb.Type, computes: Computes, indices: int) -> None:
        self._result = result
        self._computes = computes
        self._indices = indices

    def get_arg_types(self) -> list[gdb.Type] | None:
        return [gdb.lookup_type(_COUNT)] * self._indices or None

    def get_result_type(self, *_values: gdb.Value) -> gdb.Type:
        return self._result

    def __call__(self, *args: gdb.Value) -> Any:
        found = self._computes(*args)
        return found if isinstance(found, gdb.Value) else gdb.Value(found).cast(self._result)


class Matcher(gdb.xmethod.XMethodMatcher):
    """The methods of the classes that a pattern names, each with the type of its result and what computes it."""

    def __init__(self, pattern: str, methods: Methods) -> None:
        super().__init__(f"pyharness::{pattern}")
        self._pattern = re.compile(pattern)
        self._computes = methods
        self.methods = [gdb.xmethod.XMethod(name) for name in methods]

    def match(self, class_type: gdb.Type, method: str) -> Any:
        """What gdb calls: workers that compute the method, one for each count of indices."""
        if method not in self._computes or not self._pattern.fullmatch(class_type.tag or ""):
            return None
        kind, computes = self._computes[method]
        result = gdb.lookup_type(kind) if isinstance(kind, str) else kind(class_type)
        return [_Worker(result, computes, indices) for indices in _INDICES.get(method, (0,))]


def _first(kind: gdb.Type) -> gdb.Type:
    first = kind.template_argument(0)
    if not isinstance(first, gdb.Type):
        raise TypeError("it is no template of a type")
    return first


def _sequence(data: Computes, count: Computes) -> Methods:
    def at(value: gdb.Value, index: gdb.Value) -> gdb.Value:
        if int(index) >= int(count(value)):
            raise NoValueError(f"There is no element {int(index)} of {int(count(value))}.")
        return data(value)[index]  # type: ignore[no-any-return]

    return {
        "operator[]": (_first, lambda value, index: data(value)[index]),
        "at": (_first, at),
        "data": (lambda kind: _first(kind).pointer(), data),
        "size": (_COUNT, count),
        "length": (_COUNT, count),
        "empty": (_BOOL, lambda value: int(count(value)) == 0),
        "front": (_first, lambda value: data(value)[0]),
        "back": (_first, lambda value: data(value)[int(count(value)) - 1]),
    }


def span_count(value: gdb.Value) -> int:
    """Count of the elements of a ``std::span``, which is in its type where that is fixed."""
    extent = value["_M_extent"]
    if any(field.name == "_M_extent_value" for field in extent.type.strip_typedefs().fields()):
        return int(extent["_M_extent_value"])
    kind = plain_type(value.type)
    return number_in(plain_type(kind.target()) if kind.code == gdb.TYPE_CODE_PTR else kind, 1) or 0


def _held(value: gdb.Value) -> gdb.Value:
    """What a ``std::optional`` holds; an error where that is nothing."""
    payload = value["_M_payload"]
    if not payload["_M_engaged"]:
        raise NoValueError("The optional holds nothing.")
    return payload["_M_payload"]["_M_value"]


_KNOWN: tuple[tuple[str, Methods], ...] = (
    (
        r"std::__cxx11::basic_string<.*>",
        _sequence(lambda value: value["_M_dataplus"]["_M_p"], lambda value: value["_M_string_length"]),
    ),
    (r"std::basic_string_view<.*>", _sequence(lambda value: value["_M_str"], lambda value: value["_M_len"])),
    (r"std::span<.*>", _sequence(lambda value: value["_M_ptr"], span_count)),
    (
        r"std::optional<.*>",
        {
            "operator*": (_first, _held),
            "operator->": (lambda kind: _first(kind).pointer(), lambda value: _held(value).address),
            "value": (_first, _held),
            "has_value": (_BOOL, lambda value: bool(value["_M_payload"]["_M_engaged"])),
        },
    ),
)


def matchers() -> list[Any]:
    """What gdb asks, one for each kind of class."""
    return [Matcher(pattern, methods) for pattern, methods in _KNOWN]
