"""The tensors inside of what a module takes or returns: found by name, and the same structure built of others.

Walked are tuples (named ones and torch's own as well), lists, mappings, dataclasses, and any other object by its
attributes: a ``ModelOutput`` is a mapping with attributes, a ``torch.distributions.Normal`` an object with two tensors.
Modules, functions and types are left alone.
"""

from __future__ import annotations

import copy
import dataclasses
import operator
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from torch import Size, Tensor, device, dtype, nn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DEEPEST = 40
"""Levels; what lies deeper is left as it is."""
_ATOMS = (
    str,
    bytes,
    int,
    float,
    complex,
    type(None),
    type,
    Size,
    device,
    dtype,
    nn.Module,
    ModuleType,
    FunctionType,
    BuiltinFunctionType,
    MethodType,
)


def leaves(value: Any, also: type | tuple[()] = ()) -> Iterator[tuple[str, Any]]:
    """Every tensor once, with how one would write it after the value: ``""``, ``[0]``, ``.logits``, ``['mask']``.

    ``also`` is a class whose objects count as tensors.
    """
    seen: set[int] = set()
    pending: list[tuple[str, Any, int]] = [("", value, 0)]
    while pending:
        path, each, depth = pending.pop()
        if isinstance(each, _ATOMS) or id(each) in seen or depth > _DEEPEST:
            continue
        seen.add(id(each))
        if isinstance(each, (Tensor, also)):
            yield path, each
        else:
            pending += [(path + step, part, depth + 1) for step, part in reversed(_parts(each))]


def mapped(value: Any, change: Callable[[Tensor], Any], *, once: bool = True) -> Any:
    """A copy of the structure with ``change(tensor)`` for each tensor; a part without tensors is the same object.

    A tensor that stands in two places is changed ``once``, or for each of them. What cannot be copied (a mapping that
    is read-only) becomes a plain ``dict`` of its parts.
    """
    return _Rebuild(change, once=once).of(value, 0)


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        return [(f".{names[i]}" if names else f"[{i}]", part) for i, part in enumerate(value)]
    if isinstance(value, list):
        return [(f"[{i}]", part) for i, part in enumerate(value)]
    attributes = _attributes(value)
    if isinstance(value, Mapping):
        items = [(key, part) for key, part in value.items()]
        named = {key for key, part in items if isinstance(key, str) and attributes.get(key) is part}
        parts = [(f".{key}" if key in named else f"[{key!r}]", part) for key, part in items]
        return parts + [(f".{name}", part) for name, part in attributes.items() if name not in named]
    return [(f".{name}", part) for name, part in attributes.items()]


def _attributes(value: Any) -> dict[str, Any]:
    """What an object holds: the fields of a dataclass (it may have slots), the attributes of any other."""
    held = dict(getattr(value, "__dict__", {}))
    if dataclasses.is_dataclass(value):
        held |= {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    return held


class _Rebuild:
    def __init__(self, change: Callable[[Tensor], Any], *, once: bool) -> None:
        self._change = change
        self._once = once
        self._done: dict[int, Any] = {}
        self._kept: list[Any] = []
        """Objects that stay alive, so that no number of an object in ``_done`` is given to another one."""

    def of(self, value: Any, depth: int) -> Any:
        if isinstance(value, _ATOMS) or depth > _DEEPEST:
            return value
        if isinstance(value, Tensor) and not self._once:
            return self._change(value)
        if id(value) not in self._done:
            self._done[id(value)] = value  # what holds itself is left as it is there
            self._kept.append(value)
            new = self._change(value) if isinstance(value, Tensor) else self._made(value, depth + 1)
            self._done[id(value)] = new
        return self._done[id(value)]

    def _made(self, value: Any, depth: int) -> Any:
        if isinstance(value, (tuple, list)):
            row = [self.of(part, depth) for part in value]
            return value if all(map(operator.is_, row, value)) else _sequence(value, row)
        items = {key: self.of(part, depth) for key, part in value.items()} if isinstance(value, Mapping) else {}
        attributes = {name: self.of(part, depth) for name, part in _attributes(value).items()}
        changed = {key: part for key, part in items.items() if part is not value[key]}
        held = {name: part for name, part in attributes.items() if part is not getattr(value, name)}
        return _copied(value, items, changed, held) if changed or held else value


def _sequence(value: tuple[Any, ...] | list[Any], items: list[Any]) -> Any:
    if type(value) is list or type(value) is tuple:
        return type(value)(items)
    if isinstance(value, list):
        new = copy.copy(value)
        new[:] = items
        return new
    try:
        return tuple.__new__(type(value), items)
    except TypeError:  # a structure of C's, as torch.max returns
        return type(value)(items)


def _copied(value: Any, items: dict[Any, Any], changed: dict[Any, Any], attributes: dict[str, Any]) -> Any:
    if type(value) is dict:
        return items
    try:
        new = copy.copy(value)
        for key, part in changed.items():
            new[key] = part
        for name, part in attributes.items():
            object.__setattr__(new, name, part)  # of frozen dataclasses, too
    except (TypeError, ValueError, AttributeError, KeyError, RuntimeError):
        return {**items, **{name: part for name, part in attributes.items() if name not in items}}
    return new
