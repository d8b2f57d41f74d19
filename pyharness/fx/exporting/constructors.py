"""The call that makes a module again: its class with the arguments that can be told from its attributes.

A call counts only if a module made by it, on the meta device, is like the one that is there: classes, attributes,
names and shapes of all parameters and buffers, down to the last child.
"""

from __future__ import annotations

import inspect
import itertools
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from pyharness.fx.exporting.names import Imports, NoCodeError, literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_OF_MODULE = frozenset(vars(nn.Module()))
_RECURRENT = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size")
_UNTOLD = frozenset({"device", "dtype"})
_FLAGS = 3
"""Flags that are tried both ways."""


def call_of(module: nn.Module, imports: Imports) -> str | None:
    """``nn.Linear(3, 4)``, or ``None`` where no call is known to make such a module."""
    kind = type(module)
    if kind in {nn.Sequential, nn.ModuleList}:
        return _listed(module, imports)
    arguments = _found(module)
    if arguments is None:
        return None
    try:
        texts = [_argument(name, value, imports, kind) for name, value in arguments.items()]
        return f"{imports.expression(kind)}({', '.join(texts)})"
    except NoCodeError:
        return None


def _found(module: nn.Module) -> dict[str, Any] | None:
    """Arguments that make such a module, as short as they can be."""
    kind, told = type(module), _arguments(module)
    if told is None:
        return None
    short = {name: _collapsed(value) for name, value in _without_defaults(kind, told).items()}
    tried = [short, told, *({**short, **switched} for switched in _switched(module))]
    return next((arguments for arguments in tried if _makes(kind, arguments, module)), None)


def _switched(module: nn.Module) -> Iterator[dict[str, bool]]:
    """Flags that became no attribute (``bias`` of attention), turned over one by one and together."""
    flags = [
        (name, not parameter.default)
        for name, parameter in _parameters(type(module)).items()
        if isinstance(parameter.default, bool) and not hasattr(module, name)
    ][:_FLAGS]
    for count in range(1, len(flags) + 1):
        yield from map(dict, itertools.combinations(flags, count))


def _argument(name: str, value: Any, imports: Imports, kind: type) -> str:
    parameter = _parameters(kind).get(name)
    required = (
        parameter is not None and parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY
    )
    return literal(value, imports) if required else f"{name}={literal(value, imports)}"


def _listed(module: nn.Module, imports: Imports) -> str | None:
    children = list(module.named_children())
    if [name for name, _ in children] != [str(number) for number in range(len(module._modules))] or _own(module):  # noqa: SLF001
        return None
    calls = [call_of(child, imports) for _, child in children]
    if any(call is None for call in calls) or any(type(child) is nn.Module for _, child in children):
        return None
    inside = ", ".join(call for call in calls if call)
    return f"nn.Sequential({inside})" if type(module) is nn.Sequential else f"nn.ModuleList([{inside}])"


def _parameters(kind: type) -> Mapping[str, inspect.Parameter]:
    try:
        found = dict(inspect.signature(kind).parameters)
    except (TypeError, ValueError):
        return {}
    return found


def _arguments(module: nn.Module) -> dict[str, Any] | None:
    """Names and values of what differs from its default; ``None`` where one cannot be told."""
    if isinstance(module, nn.RNNBase):
        names = [name for name in _RECURRENT if getattr(module, name, 0) != 0 or name in {"bias", "batch_first"}]
        extra = {"nonlinearity": module.nonlinearity} if isinstance(module, nn.RNN) else {}
        return {**{name: getattr(module, name) for name in names}, **extra}
    arguments: dict[str, Any] = {}
    for name, parameter in _parameters(type(module)).items():
        if name in _UNTOLD or parameter.kind in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}:
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            return None
        value = getattr(module, name, parameter.default)
        if value is parameter.empty:
            return None
        if isinstance(parameter.default, bool) and (value is None or isinstance(value, torch.Tensor)):
            value = value is not None  # `bias=True` becomes the parameter `bias`
        if value is not parameter.default and not _same(value, parameter.default):
            arguments[name] = value
    return arguments


def _collapsed(value: Any) -> Any:
    """``3`` of ``(3, 3)``, as people write a kernel's size."""
    return value[0] if type(value) is tuple and len(value) > 1 and len(set(map(repr, value))) == 1 else value


def _without_defaults(kind: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Without those that are their default, written as a tuple."""
    known = _parameters(kind)
    return {
        name: value
        for name, value in arguments.items()
        if name not in known or not _same(_collapsed(value), known[name].default)
    }


def _makes(kind: type, arguments: Mapping[str, Any], module: nn.Module) -> bool:
    try:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            return _alike(kind(**arguments), module)
    except Exception:  # noqa: BLE001  (whatever a user's constructor raises: then it is not the call that we look for)
        return False


def _alike(made: nn.Module, module: nn.Module) -> bool:
    if type(made) is not type(module) or not _same_tensors(made, module):
        return False
    ours, theirs = attributes(made), attributes(module)
    if ours.keys() != theirs.keys() or not all(_same(ours[name], theirs[name]) for name in ours):
        return False
    left, right = made._modules, module._modules  # noqa: SLF001
    if list(left) != list(right):
        return False
    pairs = [(left[name], right[name]) for name in left]
    return all(a is b if a is None or b is None else _alike(a, b) for a, b in pairs)


def _same_tensors(made: nn.Module, module: nn.Module) -> bool:
    for field in ("_parameters", "_buffers"):
        left, right = getattr(made, field), getattr(module, field)
        if {name: _shape(value) for name, value in left.items()} != {
            name: _shape(value) for name, value in right.items()
        }:
            return False
    return made._non_persistent_buffers_set == module._non_persistent_buffers_set  # noqa: SLF001


def _shape(tensor: torch.Tensor | None) -> tuple[int, ...] | None:
    return None if tensor is None else tuple(tensor.shape)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor):
        return False
    if isinstance(one, list | tuple) and type(one) is type(other) and len(one) == len(other):
        return all(map(_same, one, other))
    try:
        return one is other or (type(one) is type(other) and bool(one == other))
    except Exception:  # noqa: BLE001  (somebody's own `==`)
        return False


def attributes(module: nn.Module) -> dict[str, Any]:
    """What a module has of its own beside tensors and children, without what torch's keep in private ones."""
    return {name: value for name, value in all_attributes(module).items() if not _is_torchs(module, name)}


def all_attributes(module: nn.Module) -> dict[str, Any]:
    """With them, but for caches of tensors."""
    mine = {name: value for name, value in vars(module).items() if name not in _OF_MODULE}
    return {name: value for name, value in mine.items() if not _is_torchs(module, name) or _is_plain(value)}


def _is_torchs(module: nn.Module, name: str) -> bool:
    return name.startswith("_") and type(module).__module__.startswith("torch.nn.")


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def _own(module: nn.Module) -> bool:
    return bool(module._parameters or module._buffers or attributes(module))  # noqa: SLF001
