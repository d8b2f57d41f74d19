"""Why the elements of a tensor cannot be shown, in the same words wherever it was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.model.tensors.dtypes import BY_NAME, PACKED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.tensors.tensor import TensorInfo

_PLAIN = "c10::TensorImpl"
IN_MEMORY = frozenset({"cpu", "mkldnn", "ideep"})
"""Devices whose data lies in the process's own memory."""


@frozen
class Facts:
    """What decides whether elements can be read."""

    dtype: str
    layout: str
    device: str
    symbolic: bool
    storage: int
    """Address of the storage's bytes, 0 where there are none."""
    numel: int
    kind: str | None
    """C++ class of the TensorImpl."""


def obstacle(facts: Facts, *, reachable: bool = False) -> str | None:
    """The plainest reason, ``None`` where there is none; ``reachable``: data on a device can be copied from it."""
    return next(_obstacles(facts, reachable=reachable), None)


def _obstacles(facts: Facts, *, reachable: bool) -> Iterator[str]:
    if facts.layout != "strided":
        yield "nested" if facts.layout == "nested" else "sparse: see its parts"
    if facts.symbolic:
        yield "its sizes are symbolic"
    if facts.device == "meta":
        yield "meta tensors have no data"
    if facts.device.partition(":")[0] not in IN_MEMORY and not reachable:
        yield f"data is on {facts.device}"
    if facts.dtype not in BY_NAME:
        yield f"unknown dtype {facts.dtype}"
    if facts.dtype in PACKED:
        yield f"{facts.dtype} packs several elements into a byte"
    if not facts.storage and facts.numel:
        yield "it has no storage" if facts.kind in {None, _PLAIN} else f"a {facts.kind} has no storage"


def beyond_storage(info: TensorInfo, itemsize: int) -> str | None:
    """Why a strided tensor is corrupt: it reaches beyond its storage; ``None`` where it does not."""
    if not info.numel:
        return None
    if info.offset < 0 or any(stride < 0 for stride in info.strides):
        return f"it has the offset {info.offset} and the strides {list(info.strides)}"
    last = sum((size - 1) * stride for size, stride in zip(info.sizes, info.strides))  # noqa: B905
    if info.storage_bytes < (info.offset + last + 1) * itemsize:
        return f"its elements reach beyond its storage of {info.storage_bytes} bytes"
    return None
