"""How a script of its own gets at the functions, classes and data of this process: by import, else by a copy."""

from __future__ import annotations

import functools
import inspect
import sys
import sysconfig
import textwrap
from pathlib import Path
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import torch

from pyharness.fx.bisecting.named import named_in
from pyharness.fx.exporting.names import plain

if TYPE_CHECKING:
    from collections.abc import Iterator


class Names:
    """Collects the statements that define what a script names."""

    def __init__(self) -> None:
        self._defined: dict[str, Any] = {}
        self._imports: dict[str, None] = {}
        self._statements: list[str] = []
        self._folders: dict[str, None] = {}
        self._making: set[int] = set()
        self.tensors: dict[str, torch.Tensor] = {}
        """To be put into the script's data file, by name."""
        self.missing: list[str] = []
        """What has no name to import and no text to copy, in words."""

    def lines(self) -> Iterator[str]:
        """The statements: folders to import from, imports, definitions."""
        if self._folders:
            yield f"sys.path[:0] = [{', '.join(map(repr, self._folders))}]"
        yield from sorted(self._imports)
        for statement in self._statements:
            yield from (["", ""] if "\n" in statement else [])
            yield from statement.split("\n")

    def expression(self, value: Any) -> str | None:
        """Python text for ``value``, with what it needs defined before; ``None`` where there is none."""
        return plain(value) or self._by_kind(value)

    def _by_kind(self, value: Any) -> str | None:
        if isinstance(value, functools.partial):
            return self._partial(value)
        if isinstance(value, MethodType):
            owner = self.expression(value.__self__)
            return owner and f"{owner}.{value.__func__.__name__}"
        if isinstance(value, torch._ops.OpOverload | torch._ops.OpOverloadPacket):  # noqa: SLF001  (their only name)
            return f"torch.ops.{value}"
        if isinstance(value, ModuleType):
            return self._module(value)
        named = callable(value) and hasattr(value, "__name__")
        return (self._importable(value) or self._copy(value)) if named else self._instance(value)

    def define(self, name: str, value: Any) -> bool:
        """Make ``name`` stand for ``value`` in the script; false, and noted as missing, where that cannot be."""
        if name in self._defined:
            return self._defined[name] is value
        self._defined[name] = value
        if isinstance(value, torch.Tensor):
            self.tensors[name] = value.detach()
            self._statements.append(f'{name} = DATA["names"][{name!r}]')
            return True
        text = self.expression(value)
        if text is None:
            self.missing.append(f"{name} (a {type(value).__name__})")
        elif text != name:
            self._statements.append(f"{name} = {text}")
        return text is not None

    def _partial(self, value: functools.partial[Any]) -> str | None:
        parts = [self.expression(each) for each in (value.func, *value.args)]
        named = {name: self.expression(each) for name, each in value.keywords.items()}
        if None in parts or None in named.values():
            return None
        self._imports["import functools"] = None
        return f"functools.partial({', '.join([*map(str, parts), *(f'{k}={v}' for k, v in named.items())])})"

    def _module(self, module: ModuleType) -> str | None:
        if module.__name__ == "__main__" or not _found_by_name(module):
            return None
        self._add_folder(module)
        self._imports[f"import {module.__name__}"] = None
        return module.__name__

    def _importable(self, value: Any) -> str | None:
        """``package.module.name``, where a fresh process finds the same there."""
        module = sys.modules.get(getattr(value, "__module__", None) or "")
        for holder, path in ((module, getattr(value, "__qualname__", "")), (torch, getattr(value, "__name__", ""))):
            if holder is not None and _resolved(holder, path) is value and self._module(holder):
                return f"{holder.__name__}.{path}" if holder.__name__ != "builtins" else path
        return None

    def _copy(self, value: Any) -> str | None:
        """The name of a function or class whose source is copied, with all that it names."""
        name = str(value.__name__)
        if name in self._defined and self._defined[name] is not value:
            return None
        try:
            source = textwrap.dedent(inspect.getsource(value))
        except (OSError, TypeError):
            return None
        if not source.lstrip().startswith(("def ", "class ", "@")):  # a lambda's is whatever surrounds it
            return None
        self._defined[name] = value
        for needed, what in named_in(source, value):
            if needed != name:
                self.alias(needed, what)
        self._statements.append(source.rstrip())
        return name

    def alias(self, name: str, value: Any) -> None:
        """Make ``name`` stand for ``value`` as ``define`` does, a module by an import under that name."""
        if isinstance(value, ModuleType) and self._module(value):
            alias = f"import {value.__name__} as {name}" if value.__name__ != name else f"import {name}"
            self._imports[alias] = None
            self._defined[name] = value
        else:
            self.define(name, value)

    def _instance(self, value: Any) -> str | None:
        """An object made anew without its ``__init__``, its attributes set: where these are literals."""
        if id(value) in self._making or isinstance(value, torch.nn.Module | torch.fx.Graph):
            return None
        self._making.add(id(value))
        kind = self.expression(type(value)) if hasattr(value, "__dict__") else None
        state = {name: self.expression(each) for name, each in vars(value).items()} if kind else {}
        self._making.discard(id(value))
        if kind is None or None in state.values():
            return None
        pairs = ", ".join(f"{name!r}: {text}" for name, text in state.items())
        self._define_once(_REMADE)
        return f"remade({kind}, {{{pairs}}})"

    def _define_once(self, statement: str) -> None:
        if statement not in self._statements:
            self._statements.insert(0, statement)

    def _add_folder(self, module: ModuleType) -> None:
        file = getattr(module, "__file__", None)
        if not file or module.__name__.partition(".")[0] == "torch":
            return
        depth = module.__name__.count(".") + (Path(file).stem == "__init__")
        folder = Path(file).resolve().parents[depth]
        if not any(folder == root or root in folder.parents for root in _installed()):
            self._folders[str(folder)] = None


_REMADE = '''def remade(kind, attributes):
    """An object with these attributes, made without running its __init__."""
    made = kind.__new__(kind)
    vars(made).update(attributes)
    return made'''


def _resolved(holder: Any, path: str) -> Any:
    for part in path.split("."):
        holder = getattr(holder, part, None)
    return holder


def _found_by_name(module: ModuleType) -> bool:
    """Whether an import in a fresh process finds the file that this module came from."""
    file = getattr(module, "__file__", None)
    if not file:
        return module.__name__ in sys.builtin_module_names
    path = Path(file)
    parts = (path.parent if path.stem == "__init__" else path.with_name(path.name.partition(".")[0])).parts
    names = tuple(module.__name__.split("."))
    return parts[-len(names) :] == names


@functools.lru_cache(maxsize=1)
def _installed() -> tuple[Path, ...]:
    return tuple({Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")})
