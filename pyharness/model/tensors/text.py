"""A tensor as text, the same in both halves: what it is, a few of its elements, its statistics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pyharness.model.tensors.elements import ELLIPSIS, nested
from pyharness.model.tensors.tensor import DLTENSOR, SYMBOLIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.model.frames import AutogradNode
    from pyharness.model.tensors.elements import Element, Nested
    from pyharness.model.tensors.statistics import Statistics
    from pyharness.model.tensors.tensor import TensorInfo

_LINE_EDGE = 2
_LINE_THRESHOLD = 8
_LINE_WIDTH = 200


def number(value: object, digits: int = 4) -> str:
    """One element: its significant digits, and a decimal point where it is no integer type."""
    if isinstance(value, complex):
        imaginary = number(value.imag, digits)
        return f"{number(value.real, digits)}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.{digits}g}"
    return text if not math.isfinite(value) or set(text) & set(".e") else f"{text}.0"


def name_of(node: AutogradNode) -> str:
    """``<MulBackward0>``."""
    return node.name if node.name.startswith("<") else f"<{node.name}>"


def headline(info: TensorInfo) -> str:
    """What a tensor is, without its elements."""
    noun = _noun(info)
    if info.state == "null":
        return "<null tensor>"
    if info.state == "corrupt":
        return f"<corrupt {noun if noun != 'Tensor' else 'tensor'} at {info.address:#x}: {info.problem}>"
    if info.state == "undefined":
        return "Tensor undefined"
    if info.state == "uninitialized":
        return "Tensor uninitialized (its lazy module was not called yet)"
    sizes = "[symbolic]" if SYMBOLIC in info.notes else str(list(info.sizes))
    shown = [noun, info.dtype]
    shown += [sizes] * (info.layout != "nested") + [info.device] * bool(info.device)
    shown += [info.layout] * (info.layout != "strided")
    shown += ["conj"] * info.conjugated + ["neg"] * info.negated
    if info.quantization:
        shown.append(f"scale={info.quantization.scale:g} zero_point={info.quantization.zero_point}")
    if info.grad_fn:
        shown.append(f"grad_fn={name_of(info.grad_fn)}")
    elif info.requires_grad:
        shown.append("requires_grad")
    return " ".join(shown)


def _noun(info: TensorInfo) -> str:
    """What a tensor is called: an array of another library as its class."""
    return "Tensor" if info.is_of_torch or info.kind in {DLTENSOR, None} else str(info.kind)


def one_line(info: TensorInfo, element: Element | None) -> str:
    """One line on a tensor: ``Tensor float32 [2, 3] cpu grad_fn=<MulBackward0> [[1.0, 2.0, …], …]``.

    ``element`` reads an element; it is not called where the elements are not to be had.
    """
    if info.state != "defined":
        return headline(info)
    if info.unreadable or element is None:
        return f"{headline(info)} <{info.unreadable}>"
    return f"{headline(info)} {elements_line(element, info.sizes, info.strides)}"


def elements_line(element: Element, sizes: Sequence[int], strides: Sequence[int]) -> str:
    """A few elements of a tensor, or of a row of it."""
    text = flat(nested(element, sizes, strides, _LINE_EDGE, _LINE_THRESHOLD))
    return text if len(text) <= _LINE_WIDTH else text[:_LINE_WIDTH] + ELLIPSIS


def flat(elements: Nested) -> str:
    """Nested lists on one line."""
    if isinstance(elements, list):
        return f"[{', '.join(map(flat, elements))}]"
    return number(elements)


def statistics_line(found: Statistics) -> str:
    """One line of statistics, such as ``min -1.2, max 3.0, mean 0.5, std 1.1; NaN 0, Inf 0``."""
    values = {"min": found.minimum, "max": found.maximum, "mean": found.mean, "std": found.deviation}
    shown = ", ".join(f"{name} {number(value, 6)}" for name, value in values.items() if value is not None)
    infinite = f"Inf {found.infinite}"
    if found.negative_infinity:
        infinite += f" ({found.negative_infinity} negative)"
    part = f" (the first {found.counted} of {found.total} elements)" if found.counted < found.total else ""
    return f"{shown or 'no finite element'}; NaN {found.nan}, {infinite}{part}"
