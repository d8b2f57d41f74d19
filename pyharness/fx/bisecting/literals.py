"""Python text for data: what a script can hold without a data file."""

from __future__ import annotations

import math
from typing import Any

import torch

_DEPTH = 8
"""How deep a literal may nest."""
_PLAIN = (type(None), bool, int, str, bytes, type(Ellipsis), torch.dtype, torch.memory_format, torch.layout)


def literal(value: Any, depth: int = _DEPTH) -> str | None:
    """Text for numbers, strings, dtypes and devices, plain containers and slices of them; ``None`` for the rest."""
    if type(value) in _PLAIN:
        return repr(value)
    if type(value) is float:
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, torch.device):
        return f"torch.{value!r}"
    return _container(value, depth - 1) if depth else None


def _container(value: Any, depth: int) -> str | None:
    kind = type(value)
    if kind is dict:
        pairs = [(literal(key, depth), literal(each, depth)) for key, each in value.items()]
        return None if any(None in pair for pair in pairs) else f"{{{', '.join(f'{k}: {v}' for k, v in pairs)}}}"
    if kind not in {tuple, list, torch.Size, set, slice}:
        return None
    parts = [literal(each, depth) for each in ((value.start, value.stop, value.step) if kind is slice else value)]
    if None in parts:
        return None
    text = ", ".join(map(str, parts))
    if kind in {tuple, torch.Size}:
        return f"({text},)" if len(parts) == 1 else f"({text})"
    return {list: f"[{text}]", slice: f"slice({text})", set: f"{{{text}}}" if parts else "set()"}[kind]
