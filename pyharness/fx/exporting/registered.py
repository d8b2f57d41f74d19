"""Which modules must be imported so that the custom ops of a graph are registered in a fresh process."""

from __future__ import annotations

import mmap
import re
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING

import torch

from pyharness.fx.exporting.error import ExportError
from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.fx import GraphModule

_BUILT_IN = frozenset({"aten", "prim", "prims", "higher_order", "quantized", "inductor", "_c10d_functional", "_caffe2"})
_REGISTERED = re.compile(r"registered at (/[^\n]+?\.py):\d+")


def modules_for(module: GraphModule) -> list[str]:
    """Names to import, in order; ``ExportError`` names the node whose op nothing importable registers."""
    needed: dict[str, None] = {}
    known: dict[str, str] = {}
    for node in module.graph.nodes:
        if type(node.target).__module__ != "torch._ops":
            continue
        namespace, _, name = str(node.target).partition(".")
        if namespace in _BUILT_IN or "." not in str(node.target):
            continue
        if namespace not in known:
            known[namespace] = _python(namespace, name.partition(".")[0]) or _extension(namespace)
        if not known[namespace]:
            raise ExportError(
                f"node {node.name} calls torch.ops.{node.target}, and no module is known that registers it.",
                "Name it: export(..., imports=['my_ops']).",
            )
        needed[known[namespace]] = None
    return list(needed)


def _python(namespace: str, name: str) -> str:
    """The module whose lines registered the op."""
    try:
        text = torch._C._dispatch_dump(f"{namespace}::{name}")  # noqa: SLF001  (nothing public says where)
    except RuntimeError:
        return ""
    files = {file for file in _REGISTERED.findall(text) if is_user_python(file)}
    return next((each for each, file in _loaded() if file in files and each != "__main__"), "")


def _extension(namespace: str) -> str:
    """The extension module in whose file the namespace stands."""
    for name, file in _loaded():
        if file.endswith(tuple(EXTENSION_SUFFIXES)) and name.partition(".")[0] not in {"torch", "numpy", "functorch"}:
            with open(file, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as text:  # noqa: PTH123
                if text.find(b"\0" + namespace.encode() + b"\0") >= 0 and text.find(b"torch") >= 0:
                    return name
    return ""


def _loaded() -> Iterator[tuple[str, str]]:
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str):
            yield name, file
