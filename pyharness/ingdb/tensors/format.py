"""A tensor as text: one line for a variable list, several for a person, an object for ``--json``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pyharness.ingdb.tensors.elements import element_reader, summary
from pyharness.model.tensors import text as tensor_text
from pyharness.model.tensors.elements import EDGE, THRESHOLD
from pyharness.model.tensors.text import headline, name_of, number, statistics_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.model.tensors.elements import Nested
    from pyharness.model.tensors.statistics import Statistics
    from pyharness.model.tensors.tensor import TensorInfo

    Read = Callable[[int, int], bytes]

_WIDTH = 120


def one_line(read: Read, info: TensorInfo) -> str:
    """One line on a tensor: ``Tensor float32 [2, 3] cpu grad_fn=<MulBackward0> [[1.0, 2.0, …], …]``."""
    readable = info.state == "defined" and not info.unreadable
    return tensor_text.one_line(info, element_reader(read, info) if readable else None)


def describe(
    read: Read,
    info: TensorInfo,
    statistics: Statistics | None = None,
    edge: int = EDGE,
    threshold: int = THRESHOLD,
) -> Iterator[str]:
    """Lines: what it is, where it lies, its history, its elements (``threshold`` of them in full), its parts."""
    yield headline(info)
    if info.state != "defined":
        return
    yield f"  {_place(info)}"
    if info.is_of_torch:
        yield f"  {_history(info)}"
    for note in info.notes:
        yield f"  note: {note}"
    if statistics:
        yield f"  {statistics_line(statistics)}"
    if info.unreadable:
        yield f"  elements: <{info.unreadable}>"
    else:
        yield from (f"  {line}" for line in _block(summary(read, info, edge, threshold), 1))
    for name, part in info.parts:
        yield from (f"  {'' if index else name + ': '}{line}" for index, line in enumerate(describe(read, part)))


def _place(info: TensorInfo) -> str:
    shown = [f"{'TensorImpl' if info.is_of_torch else info.kind} {info.address:#x}"]
    if info.data:
        storage = f", storage of {info.storage_bytes} bytes" if info.is_of_torch else ""
        shown.append(f"data {info.data:#x}{storage}")
    if info.layout == "strided":
        shown.append(f"strides {list(info.strides)} ({info.order}), offset {info.offset}")
    return ", ".join(shown)


def _history(info: TensorInfo) -> str:
    shown = [f"requires_grad {info.requires_grad}", "leaf" if info.is_leaf else "not a leaf"]
    if info.grad_fn:
        number_ = info.grad_fn.sequence_number
        sequence = "" if number_ is None else f" of sequence number {number_}"
        shown.append(f"grad_fn {name_of(info.grad_fn)}{sequence}")
    shown += ["has a grad"] * info.has_grad
    shown.append("version is not counted" if info.version is None else f"version {info.version}")
    return ", ".join(shown)


def _block(elements: Nested, indent: int) -> Iterator[str]:
    """Nested lists over several lines, as torch lays them out: one line an innermost list, wrapped."""
    if not isinstance(elements, list) or not any(isinstance(element, list) for element in elements):
        yield from _wrapped(elements, indent)
        return
    last = len(elements) - 1
    for index, element in enumerate(elements):
        lines = list(_block(element, indent + 1))
        lines[0] = ("[" if not index else " ") + lines[0]
        lines[1:] = [f" {line}" for line in lines[1:]]
        lines[-1] += "]" if index == last else ","
        yield from lines


def _wrapped(elements: Nested, indent: int) -> Iterator[str]:
    if not isinstance(elements, list):
        yield number(elements)
        return
    line = "["
    for index, text in enumerate(map(number, elements)):
        piece = text + ("]" if index == len(elements) - 1 else ", ")
        if len(line) + len(piece.rstrip()) > _WIDTH - indent and line.strip("[ "):
            yield line.rstrip()
            line = " "
        line += piece
    yield line if elements else "[]"


def to_json(
    read: Read, info: TensorInfo, statistics: Statistics | None = None, threshold: int = THRESHOLD
) -> dict[str, Any]:
    """The object that ``--json`` prints; NaN and infinities are strings, complex numbers text."""
    if info.state in {"null", "corrupt"}:
        return {"state": info.state, "address": info.address, "problem": info.problem}
    node = info.grad_fn
    found: dict[str, Any] = {
        **{name: getattr(info, name) for name in _PLAIN_FIELDS},
        **{name: list(getattr(info, name)) for name in ("sizes", "strides", "notes")},
        "grad_fn": {"name": node.name, "sequence_number": node.sequence_number} if node else None,
        "elements": None,
        "parts": {name: to_json(read, part) for name, part in info.parts},
    }
    if info.state == "defined" and not info.unreadable:
        found["elements"] = _plain(summary(read, info, EDGE, threshold))
    if statistics:
        found["statistics"] = {name: _plain(getattr(statistics, name)) for name in _STATISTICS}
    return found


_PLAIN_FIELDS = (
    *("state", "address", "kind", "dtype", "offset", "numel", "device", "layout", "requires_grad", "has_grad"),
    *("is_leaf", "version", "data", "storage_bytes", "conjugated", "negated", "unreadable"),
)
_STATISTICS = ("counted", "total", "nan", "infinite", "minimum", "maximum", "mean", "deviation")


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value
