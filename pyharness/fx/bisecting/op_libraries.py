"""What registers the ops that a graph calls: a script of its own has to load it before it can name them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.fx import Graph

    from pyharness.fx.bisecting.names import Names

_TORCHS = {"aten", "prims", "prim", "higher_order", "inductor", "quantized", "mkldnn", "_c10d_functional"}


def library_lines(graph: Graph, names: Names) -> Iterator[str]:
    """Statements that load the libraries of ops that are not torch's; the imports go to ``names``."""
    foreign = dict.fromkeys(_op(node.target) for node in graph.nodes if _is_foreign(node.target))
    for op in foreign:
        if not (_defined_in_python(op, names) or _imported(op, names)):
            yield from (f"torch.ops.load_library({path!r})" for path in sorted(torch.ops.loaded_libraries))
            return


def _is_foreign(target: Any) -> bool:
    return type(target).__module__ == "torch._ops" and hasattr(target, "namespace") and target.namespace not in _TORCHS


def _op(target: Any) -> str:
    return str(target._schema.name if hasattr(target, "_schema") else target._qualified_op_name)  # noqa: SLF001


def _defined_in_python(op: str, names: Names) -> bool:
    """An op of ``torch.library.custom_op``: known with the function that it was made of."""
    from torch._library.custom_ops import OPDEFS

    made_of = getattr(OPDEFS.get(op), "_init_fn", None)
    module = sys.modules.get(getattr(made_of, "__module__", ""))
    return module is not None and names.expression(module) is not None


def _imported(op: str, names: Names) -> bool:
    """An extension module that was imported and holds the op's name."""
    wanted = op.rpartition("::")[2].encode()
    found = False
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if file.endswith(".so") and not module.__name__.startswith("torch.") and _holds(Path(file), wanted):
            found |= names.expression(module) is not None
    return found


def _holds(file: Path, wanted: bytes) -> bool:
    try:
        return wanted in file.read_bytes()
    except OSError:
        return False
