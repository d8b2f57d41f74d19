"""What a value of a graph is, in a few words: ``float32[8, 64]``, ``(int64[4], 3)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from pyharness.model.results.trace import TensorInfo

if TYPE_CHECKING:
    from torch.fx import Node

_MOST = 4
"""Parts of a tuple that are said."""
_DEPTH = 3


def described(value: Any, depth: int = _DEPTH) -> str:
    """A tensor's dtype and shape, the parts of a container, the class of anything else."""
    if isinstance(value, torch.Tensor):
        return str(TensorInfo(tuple(value.shape), str(value.dtype).removeprefix("torch."), str(value.device)))
    if isinstance(value, bool | int | float | torch.SymInt) or value is None:
        return str(value)
    if isinstance(value, str):
        return "str"
    if isinstance(value, tuple | list | dict):
        return _container(value, depth)
    metadata = (getattr(value, "shape", None), getattr(value, "dtype", None))  # ShapeProp's TensorMetadata
    if isinstance(metadata[0], torch.Size) and isinstance(metadata[1], torch.dtype):
        return str(TensorInfo(tuple(metadata[0]), str(metadata[1]).removeprefix("torch."), ""))
    return type(value).__name__


def _container(value: Any, depth: int) -> str:
    if isinstance(value, tuple) and hasattr(value, "dtype") and hasattr(value, "shape"):
        return str(TensorInfo(tuple(value.shape), str(value.dtype).removeprefix("torch."), ""))
    if depth == 0:
        return "…"
    pairs = value.items() if isinstance(value, dict) else ((None, each) for each in value)
    parts = [(f"{key}: " if key is not None else "") + described(each, depth - 1) for key, each in pairs]
    if len(parts) > _MOST:
        parts[_MOST:] = [f"… {len(parts)} in all"]
    brackets = "{}" if isinstance(value, dict) else "[]" if isinstance(value, list) else "()"
    return f"{brackets[0]}{', '.join(parts)}{brackets[1]}"


def recorded(node: Node) -> str:
    """What torch noted of ``node`` when it was made: fake tensors, ``ShapeProp``'s record, or nothing."""
    for key in ("val", "example_value", "tensor_meta"):
        if node.meta.get(key) is not None:
            return described(node.meta[key])
    return ""
