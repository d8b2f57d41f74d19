"""Values of any type that messages have, made up by hypothesis, and JSON that is none of them."""

from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as some

JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | some.text(max_size=8),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
SCALARS = {
    Any: JSON,
    bool: some.booleans(),
    int: some.integers(),
    float: some.floats(allow_nan=False),
    str: some.text(max_size=20),
    bytes: some.binary(max_size=40),
    NoneType: some.none(),
}
COMPOSED = {
    Union: some.one_of,
    UnionType: some.one_of,
    tuple: some.tuples,
    dict: lambda key, value: some.dictionaries(key, value, max_size=3),
}


def values(kind):
    """Values of a type, as its annotation writes it."""
    if kind in SCALARS:
        return SCALARS[kind]
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return some.builds(kind, **{field.name: values(hints[field.name]) for field in fields(kind)})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return some.sampled_from(arguments)
    if origin is tuple and arguments[1:] == (...,):
        return some.lists(values(arguments[0]), max_size=3).map(tuple)
    return COMPOSED[origin](*map(values, arguments))
