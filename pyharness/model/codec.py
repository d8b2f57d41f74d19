"""Frozen dataclasses as JSON values, and back by their annotations: what one process sends, the other checks.

A value may be ``None``, a bool, an int, a float, a str, bytes (as base64), a tuple, a dict with str or int keys, a
Literal, a dataclass, an optional one of these, or ``Any``, which is JSON and passes unchecked.
"""

from __future__ import annotations

import base64
import binascii
import types
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable

    Decoder = Callable[[Any], Any]

T = TypeVar("T")
_NONE = type(None)
_UNIONS = {Union, getattr(types, "UnionType", Union)}
"""What a union is made of: CPython 3.9 has no ``X | Y``."""
_AS_IS = {_NONE, bool, int, float, str}
_SHOWN = 60
"""Characters of a wrong value that an error quotes."""


class MalformedError(ValueError):
    """A message lacks something, has something unknown, or has a value of another type: which one, and where."""


def encode(value: Any) -> Any:
    """A value as JSON has it; a dataclass is an object with the fields that are not what they are by default."""
    kind: Any = type(value)
    if kind in _AS_IS:
        return value
    if is_dataclass(value):
        fields_ = ((name, getattr(value, name), default) for name, default in _defaults(kind))
        return {name: encode(field) for name, field, default in fields_ if field is not default}
    if isinstance(value, (tuple, list)):
        return [encode(each) for each in value]
    if isinstance(value, dict):
        return {str(key): encode(each) for key, each in value.items()}
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value


class _WrongError(Exception):
    """A value that cannot be read; which one is known where it was found, and told on the way out of there.

    A path that was written for each value that can be read would take longer than reading it.
    """

    def __init__(self, before: str, after: str) -> None:
        self.before, self.path, self.after = before, "", after


def decode(kind: type[T], data: Any, where: str) -> T:
    """The value of type ``kind`` that ``data`` says; ``where`` names it in a ``MalformedError``."""
    read: Decoder = _decoder(cast("Any", kind))
    try:
        found: T = read(data)
    except _WrongError as error:
        raise MalformedError(f"{error.before}{where}{error.path}{error.after}") from None
    return found


def wrong(where: str, wanted: str, data: Any) -> MalformedError:
    """The error that ``where`` has another value than the ``wanted`` one."""
    return MalformedError(f"{where}{_not(wanted, data)}")


def _not(wanted: str, data: Any) -> str:
    text = repr(data)
    return f" is not {wanted}: {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}...'}"


def _wrong(wanted: str, data: Any) -> _WrongError:
    return _WrongError("", _not(wanted, data))


@cache
def _decoder(kind: Any) -> Decoder:
    """What reads a value of a type, made once."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    if is_dataclass(kind):
        return _dataclass(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _literal(arguments)
    if origin in _UNIONS:
        return _optional(arguments)
    if origin is tuple:
        return _sequence(arguments[0]) if arguments[1:] == (Ellipsis,) else _tuple(arguments)
    if origin is dict:
        return _mapping(*arguments)
    raise TypeError(f"messages cannot have a {kind}")


def _scalar(kind: type, wanted: str) -> Decoder:
    def read(data: Any) -> Any:
        if type(data) is not kind:  # True is no number
            raise _wrong(wanted, data)
        return data

    return read


def _float(data: Any) -> float:
    if type(data) not in {int, float}:
        raise _wrong("a number", data)
    return float(data)


def _bytes(data: Any) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise _wrong("base64", data) from error


_SCALARS: dict[Any, Decoder] = {
    Any: lambda data: data,
    bool: _scalar(bool, "true or false"),
    int: _scalar(int, "a whole number"),
    float: _float,
    str: _scalar(str, "a text"),
    bytes: _bytes,
    _NONE: _scalar(_NONE, "null"),
}


def _literal(choices: tuple[Any, ...]) -> Decoder:
    known = {(type(choice), choice) for choice in choices}
    kinds = {type(choice) for choice in choices}

    def read(data: Any) -> Any:
        kind = type(data)
        if kind not in kinds or (kind, data) not in known:
            raise _wrong(f"one of {', '.join(map(str, choices))}", data)
        return data

    return read


def _optional(kinds: tuple[Any, ...]) -> Decoder:
    """One type or ``None``: with more of them a reader would have to guess."""
    (kind,) = (each for each in kinds if each is not _NONE)
    read = _decoder(kind)
    return lambda data: None if data is None else read(data)


def _sequence(kind: Any) -> Decoder:
    read_item = _decoder(kind)

    def read(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise _wrong("a list", data)
        found: list[Any] = []
        try:
            for item in data:
                found.append(read_item(item))  # noqa: PERF401  (how many were read is where the error is)
        except _WrongError as error:
            error.path = f"[{len(found)}]{error.path}"
            raise
        return tuple(found)

    return read


def _tuple(kinds: tuple[Any, ...]) -> Decoder:
    readers = [_decoder(kind) for kind in kinds]

    def read(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, list) or len(data) != len(readers):
            raise _wrong(f"a list of {len(readers)}", data)
        return tuple(_within(f"[{index}]", *both) for index, both in enumerate(zip(readers, data)))  # noqa: B905

    return read


def _within(place: str, read: Decoder, data: Any) -> Any:
    try:
        return read(data)
    except _WrongError as error:
        error.path = f"{place}{error.path}"
        raise


def _mapping(key_kind: Any, kind: Any) -> Decoder:
    read_item = _decoder(kind)

    def read(data: Any) -> dict[Any, Any]:
        if not isinstance(data, dict):
            raise _wrong("an object", data)
        return {_key(key_kind, key): _within(f"[{key!r}]", read_item, item) for key, item in data.items()}

    return read


def _key(kind: Any, key: str) -> Any:
    """A key of an object: JSON has texts only."""
    if kind is not int:
        return key
    if not key.removeprefix("-").isdecimal():
        raise _WrongError("a key of ", _not("a whole number", key))
    return int(key)


def _dataclass(kind: Any) -> Decoder:
    needed = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}

    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise _wrong("an object", data)
        known = _fields(kind)
        if not data.keys() >= needed:
            raise _WrongError("", f" lacks {', '.join(sorted(needed - data.keys()))}")
        if not data.keys() <= known.keys():
            raise _WrongError("", f" has no {', '.join(sorted(map(repr, data.keys() - known.keys())))}")
        values, name = {}, ""
        try:
            for name, value in data.items():
                values[name] = known[name](value)
        except _WrongError as error:
            error.path = f".{name}{error.path}"
            raise
        return kind(**values)

    return read


@cache
def _defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, field.default) for field in fields(kind))


@cache
def _fields(kind: Any) -> dict[str, Decoder]:
    """What reads each field; found when there is one to read, for a field may be of its own class."""
    hints = get_type_hints(kind)
    return {field.name: _decoder(hints[field.name]) for field in fields(kind)}
