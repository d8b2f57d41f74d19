"""Names in an exported file: what is imported under which name, and values that can be written as code."""

from __future__ import annotations

import builtins
import keyword
import math
import sys
from types import BuiltinFunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from pyharness.model.package_folder import TAKEN

if TYPE_CHECKING:
    from collections.abc import Iterator

_WRITTEN = {type(None), bool, int, float, complex, str, bytes, type(Ellipsis)}
_DEPTH = 8
"""How deep data may nest."""


class NoCodeError(Exception):
    """A value that cannot be written as code; the text says why."""


class Imports:
    """The imports of one file."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, str]] = {}

    def lines(self) -> Iterator[str]:
        """``from a import b as c``, sorted."""
        for name, (module, member) in sorted(self._names.items(), key=lambda item: (item[1], item[0])):
            if not member:
                yield f"import {module}" if name == module else f"import {module} as {name}"
            else:
                yield f"from {module} import {member}" + (f" as {name}" if name != member else "")

    def expression(self, value: Any, wanted: str = "") -> str:
        """How a class, function or module is called in the file; ``NoCodeError`` where it cannot be imported."""
        name = str(getattr(value, "__name__", ""))
        if getattr(builtins, name, None) is value and not wanted:
            return name
        if isinstance(value, ModuleType):
            return self._add(value.__name__, "", wanted or value.__name__.replace(".", "_"))
        if value is not None and getattr(nn, name, None) is value and not wanted:
            return f"nn.{name}"
        module, path = home_of(value)
        member, *rest = path.split(".")
        if rest and wanted:
            raise NoCodeError(f"{path} lies inside of {member}")
        return ".".join([self._add(module, member, wanted or member), *rest])

    def _add(self, module: str, member: str, name: str) -> str:
        if (module, member) == ("torch", "") and name == "torch":
            return name  # every file has it
        if name in TAKEN and self._names.get(name) != (module, member):
            name = f"{name}_"
        while self._names.get(name, (module, member)) != (module, member):
            name += "_"
        self._names[name] = (module, member)
        return name


def home_of(value: Any) -> tuple[str, str]:
    """Module and path inside of it from which ``value`` can be imported in a fresh process."""
    path = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    module = getattr(value, "__module__", None) or _module_of_builtin(value)
    if not path or not module:
        raise NoCodeError(f"{type(value).__name__} has no name that could be imported")
    if module == "__main__":
        raise NoCodeError(f"{path} is defined in the program itself (__main__); move it to a module of its own")
    if isinstance(value, BuiltinFunctionType):
        path = value.__name__
    for home in (module, "torch", "torch.nn.functional"):
        found: Any = sys.modules.get(home)
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is value:
            return home, path
    raise NoCodeError(f"{module}.{path} is made while the program runs: a lambda, or inside of a function")


def _module_of_builtin(value: Any) -> str | None:
    owner = getattr(value, "__self__", None)
    return owner.__name__ if isinstance(owner, ModuleType) else None


def plain(value: Any) -> str | None:
    """Code of data that needs no import but torch; ``None`` where there is none."""
    try:
        return literal(value, None)
    except NoCodeError:
        return None


def literal(value: Any, imports: Imports | None, depth: int = _DEPTH) -> str:
    """Code of a plain value; ``NoCodeError`` where there is none."""
    if type(value) is float and not math.isfinite(value):
        return f'float("{value}")'
    if type(value) in _WRITTEN:
        return repr(value)
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return str(value)
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    if type(value) in {tuple, list, set, frozenset, dict, slice, torch.Size} and depth:
        return _container(value, imports, depth - 1)
    if imports and (isinstance(value, type) or (callable(value) and not isinstance(value, nn.Module))):
        return imports.expression(value)
    raise NoCodeError(f"{type(value).__name__} is not a plain value")


def _container(value: Any, imports: Imports | None, depth: int) -> str:
    if isinstance(value, dict):
        pairs = ((literal(key, imports, depth), literal(each, imports, depth)) for key, each in value.items())
        return f"{{{', '.join(f'{key}: {each}' for key, each in pairs)}}}"
    inside = (value.start, value.stop, value.step) if isinstance(value, slice) else value
    parts = ", ".join(literal(each, imports, depth) for each in inside)
    if isinstance(value, list):
        return f"[{parts}]"
    if isinstance(value, tuple):
        return f"({parts},)" if len(value) == 1 else f"({parts})"
    return f"slice({parts})" if isinstance(value, slice) else f"{type(value).__name__}([{parts}])"


def is_plain(name: str) -> bool:
    """Whether ``x.name`` is Python."""
    return name.isidentifier() and not keyword.iskeyword(name)
