"""Puts submodules, parameters and buffers in their places, and traces the code that uses them."""

from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import fx, nn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType


class Tracer(fx.Tracer):
    """Makes a node of each call of ``forward``, named by the variable that it is assigned to."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Every submodule is one node."""
        del m, module_qualified_name
        return True

    def create_node(self, *args: Any, **kwargs: Any) -> fx.Node:
        """As ``torch.fx.Tracer.create_node``."""
        node = super().create_node(*args, **kwargs)
        name = assigned(sys._getframe(), self.root.forward.__code__)  # noqa: SLF001  (as FX itself does)
        if name and node.op.startswith(("call_", "get_")):
            node._rename(name)  # noqa: SLF001  (FX's only way)
        return node


def assigned(frame: FrameType | None, code: Any) -> str:
    """The variable of the statement that ``code`` is at."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    text = linecache.getline(code.co_filename, frame.f_lineno) if frame else ""
    name = text.partition(" = ")[0].strip()
    return name if name.isidentifier() else ""


def traced(model: nn.Module) -> fx.GraphModule:
    """A GraphModule of ``model`` and its code."""
    return fx.GraphModule(model, Tracer().trace(model), type(model).__name__)


def put(root: nn.Module, path: str, module: nn.Module) -> None:
    """Make ``module`` the submodule of ``root`` at ``path``."""
    outer, _, name = path.rpartition(".")
    owner(root, outer).add_module(name, module)


def owner(root: nn.Module, path: str) -> nn.Module:
    """The module at ``path``, empty ones made on the way there."""
    for name in path.split(".") if path else ():
        if not hasattr(root, name):
            root.add_module(name, nn.Module())
        root = getattr(root, name)
    return root


def bare(kind: type[nn.Module], attributes: dict[str, Any]) -> nn.Module:
    """A module with these attributes, made without running its ``__init__``."""
    module = kind.__new__(kind)
    nn.Module.__init__(module)
    vars(module).update(attributes)
    return module


def fill(root: nn.Module, tensors: Mapping[str, tuple[str, torch.Tensor]]) -> None:
    """Put parameters, buffers and constants in their places, with storage of their own."""
    for name, (kind, tensor) in tensors.items():
        path, _, leaf = name.rpartition(".")
        place = owner(root, path)
        if kind == "buffer":
            place.register_buffer(leaf, tensor.clone())
        elif kind == "constant":
            setattr(place, leaf, tensor.clone())
        else:
            place.register_parameter(leaf, nn.Parameter(tensor.clone(), requires_grad=kind == "trained"))
