"""What a tensor expands into, as far as both halves of the debugger agree on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.tensors.text import number
from pyharness.model.variable import Variable

if TYPE_CHECKING:
    from pyharness.model.tensors.statistics import Statistics
    from pyharness.model.tensors.tensor import TensorInfo

PAGE = 100
"""Elements that are shown at once where a client does not ask for pages."""


def tensor_facts(info: TensorInfo) -> list[Variable]:
    """Shape, strides and what else is one line, the same wherever the tensor was read."""
    if info.state != "defined":
        return []
    shown = [Variable("shape", str(list(info.sizes)))]
    if info.layout == "strided" and len(info.strides) == len(info.sizes):
        shown.append(Variable("strides", f"{list(info.strides)} ({info.order})"))
    shown.append(Variable("dtype", info.dtype))
    shown += [Variable("device", info.device)] * bool(info.device)
    if not info.is_of_torch:
        return shown
    shown.append(Variable("layout", info.layout))
    shown.append(Variable("requires_grad", f"{info.requires_grad} ({'leaf' if info.is_leaf else 'not a leaf'})"))
    version = "<not counted: an inference tensor>" if info.version is None else str(info.version)
    shown.append(Variable("version", version))
    shown += [Variable("note", note) for note in info.notes]
    return shown


def no_elements(info: TensorInfo) -> Variable:
    """Stands for the elements that cannot be shown."""
    return Variable("elements", f"<{info.unreadable}>", note=info.unreadable)


def statistics_variables(found: Statistics) -> list[Variable]:
    """Minimum, maximum, mean, standard deviation, NaN and infinities."""
    numbers = {"min": found.minimum, "max": found.maximum, "mean": found.mean, "std": found.deviation}
    shown = [Variable(name, number(value, 6)) for name, value in numbers.items() if value is not None]
    negative = f" ({found.negative_infinity} negative)" if found.negative_infinity else ""
    shown += [Variable("NaN", str(found.nan)), Variable("Inf", f"{found.infinite}{negative}")]
    if found.counted < found.total:
        shown.append(Variable("counted", f"the first {found.counted} of {found.total} elements"))
    return shown


def storage_facts(info: TensorInfo, itemsize: int) -> list[Variable]:
    """Where the elements lie."""
    start = info.data - info.offset * itemsize if info.data else 0
    return [
        Variable("address", f"{start:#x}", memory=f"{start:#x}" if start else None),
        Variable("bytes", str(info.storage_bytes)),
        Variable("offset", f"{info.offset} elements"),
    ]


def storage_line(info: TensorInfo, itemsize: int) -> str:
    """One line on a tensor's storage, such as ``48 bytes at 0x7f00``."""
    start = info.data - info.offset * itemsize if info.data else 0
    return f"{info.storage_bytes} bytes at {start:#x}" if start else "<none>"
