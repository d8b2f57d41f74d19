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

    Decoder = Callable[[Any, str], Any]

T = TypeVar("T")
_NONE = type(None)
_UNIONS = {Union, getattr(types, "UnionType", Union)}
"""What a union is made of: CPython 3.9 has no ``X | Y``."""
_SHOWN = 60
"""Characters of a wrong value that an error quotes."""


class MalformedError(ValueError):
    """A message lacks something, has something unknown, or has a value of another type: which one, and where."""


def encode(value: Any) -> Any:
    """A value as JSON has it; a dataclass is an object with all its fields."""
    if is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (tuple, list)):
        return [encode(each) for each in value]
    if isinstance(value, dict):
        return {str(key): encode(each) for key, each in value.items()}
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value


def decode(kind: type[T], data: Any, where: str) -> T:
    """The value of type ``kind`` that ``data`` says; ``where`` names it in a ``MalformedError``."""
    read: Decoder = _decoder(cast("Any", kind))
    found: T = read(data, where)
    return found


def wrong(where: str, wanted: str, data: Any) -> MalformedError:
    """The error that ``where`` has another value than the ``wanted`` one."""
    text = repr(data)
    return MalformedError(f"{where} is not {wanted}: {text if len(text) <= _SHOWN else f'{text[:_SHOWN]}...'}")


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
    def read(data: Any, where: str) -> Any:
        if type(data) is not kind:  # True is no number
            raise wrong(where, wanted, data)
        return data

    return read


def _float(data: Any, where: str) -> float:
    if type(data) not in {int, float}:
        raise wrong(where, "a number", data)
    return float(data)


def _bytes(data: Any, where: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise wrong(where, "base64", data) from error


_SCALARS: dict[Any, Decoder] = {
    Any: lambda data, _where: data,
    bool: _scalar(bool, "true or false"),
    int: _scalar(int, "a whole number"),
    float: _float,
    str: _scalar(str, "a text"),
    bytes: _bytes,
    _NONE: _scalar(_NONE, "null"),
}


def _literal(choices: tuple[Any, ...]) -> Decoder:
    def read(data: Any, where: str) -> Any:
        if not any(data == choice and type(data) is type(choice) for choice in choices):
            raise wrong(where, f"one of {', '.join(map(str, choices))}", data)
        return data

    return read


def _optional(kinds: tuple[Any, ...]) -> Decoder:
    """One type or ``None``: with more of them a reader would have to guess."""
    (kind,) = (each for each in kinds if each is not _NONE)
    read = _decoder(kind)
    return lambda data, where: None if data is None else read(data, where)


def _sequence(kind: Any) -> Decoder:
    read_item = _decoder(kind)

    def read(data: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise wrong(where, "a list", data)
        return tuple(read_item(item, f"{where}[{index}]") for index, item in enumerate(data))

    return read


def _tuple(kinds: tuple[Any, ...]) -> Decoder:
    readers = [_decoder(kind) for kind in kinds]

    def read(data: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(data, list) or len(data) != len(readers):
            raise wrong(where, f"a list of {len(readers)}", data)
        return tuple(reader(item, f"{where}[{index}]") for index, (reader, item) in enumerate(zip(readers, data)))  # noqa: B905

    return read


def _mapping(key_kind: Any, kind: Any) -> Decoder:
    read_item = _decoder(kind)

    def read(data: Any, where: str) -> dict[Any, Any]:
        if not isinstance(data, dict):
            raise wrong(where, "an object", data)
        return {_key(key_kind, key, where): read_item(item, f"{where}[{key!r}]") for key, item in data.items()}

    return read


def _key(kind: Any, key: str, where: str) -> Any:
    """A key of an object: JSON has texts only."""
    if kind is not int:
        return key
    if not key.removeprefix("-").isdecimal():
        raise wrong(f"a key of {where}", "a whole number", key)
    return int(key)


def _dataclass(kind: Any) -> Decoder:
    needed = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}

    def read(data: Any, where: str) -> Any:
        if not isinstance(data, dict):
            raise wrong(where, "an object", data)
        known = _fields(kind)
        if lacking := needed - data.keys():
            raise MalformedError(f"{where} lacks {', '.join(sorted(lacking))}")
        if unknown := data.keys() - known.keys():
            raise MalformedError(f"{where} has no {', '.join(sorted(map(repr, unknown)))}")
        return kind(**{name: known[name](value, f"{where}.{name}") for name, value in data.items()})

    return read


@cache
def _fields(kind: Any) -> dict[str, Decoder]:
    """What reads each field; found when there is one to read, for a field may be of its own class."""
    hints = get_type_hints(kind)
    return {field.name: _decoder(hints[field.name]) for field in fields(kind)}
