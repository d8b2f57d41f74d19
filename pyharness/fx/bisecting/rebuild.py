"""Python text that makes a module again: by its class where that takes data alone, else attribute by attribute."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.fx import GraphModule

from pyharness.fx.bisecting.literals import literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.fx.bisecting.names import Names

_OWN = set(vars(nn.Module()))
"""What every module has."""


def module_lines(root: nn.Module, names: Names) -> Iterator[str]:
    """Statements of an ``__init__`` that put every submodule of ``root`` in its place, and set the modes."""
    made: list[str] = []
    for path, module in root.named_modules():
        if not path or any(path.startswith(f"{outer}.") for outer in made):
            continue
        text = _constructed(module, names)
        if text:
            made.append(path)
        elif type(module) is not nn.Module:
            text = _bare(path, module, names)
        if text:
            yield f"put(self, {path!r}, {text})"
    yield 'fill(self, DATA["tensors"])'
    yield f"self.train({root.training})"
    for path, module in root.named_modules():
        if module.training != root.training and type(module) is not nn.Module:
            yield f"self.get_submodule({path!r}).training = {module.training}"


def attribute_lines(root: nn.Module, names: Names) -> Iterator[str]:
    """Statements that set the plain attributes of ``root``, those that can be said."""
    for name, value in vars(root).items():
        if name not in _OWN and name not in _OF_GRAPH_MODULES and not name.startswith("__"):
            text = names.expression(value)
            if text is not None:
                yield f"self.{name} = {text}"


_OF_GRAPH_MODULES = set(vars(GraphModule(nn.Module(), torch.fx.Graph())))


def _constructed(module: nn.Module, names: Names) -> str | None:
    """A call of its class with arguments that are attributes of the same names, if that gives an equal module."""
    arguments = _arguments(module)
    if arguments is None or isinstance(module, GraphModule):
        return None
    try:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            again = type(module)(**arguments)
    except Exception:  # noqa: BLE001  (a class of the user's)
        return None
    if _set_up(again) != _set_up(module):
        return None
    kind = _class(type(module), names)
    texts = [f"{name}={literal(value)}" for name, value in arguments.items()]
    return kind and f"{kind}({', '.join(texts)})"


def _arguments(module: nn.Module) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(type(module)).parameters.items():
        missing = not hasattr(module, name)
        value = parameter.default if missing else getattr(module, name)
        if name == "bias" and isinstance(value, torch.Tensor | None):
            value = value is not None
        if literal(value) is None or parameter.kind is parameter.VAR_POSITIONAL:
            if missing and parameter.default is parameter.empty:
                return None
            continue
        if literal(value) != literal(parameter.default):
            found[name] = value
    return found


def _set_up(module: nn.Module) -> list[Any]:
    """All that tells two modules apart, but for the numbers in their tensors and their modes."""
    tensors = [(name, tuple(each.shape), each.dtype) for name, each in module.state_dict().items()]
    plain = [
        (path, type(each), sorted((name, literal(value)) for name, value in _plain(each)))
        for path, each in module.named_modules()
    ]
    return [tensors, plain]


def _plain(module: nn.Module) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in vars(module).items() if name not in _OWN)


def _bare(path: str, module: nn.Module, names: Names) -> str | None:
    """Without running its ``__init__``; its submodules and tensors are put into it afterwards."""
    kind = _class(type(module), names)
    attributes = {name: names.expression(value) for name, value in _plain(module)}
    if kind is None or isinstance(module, GraphModule):
        names.missing.append(f"the module {path} (a {type(module).__name__})")
        return None
    said = {name: text for name, text in attributes.items() if text is not None}
    names.missing += [f"the attribute {name} of {path}" for name in attributes if name not in said]
    return f"bare({kind}, {{{', '.join(f'{name!r}: {text}' for name, text in said.items())}}})"


def _class(kind: type, names: Names) -> str | None:
    name = kind.__name__
    return f"nn.{name}" if getattr(nn, name, None) is kind else names.expression(kind)
