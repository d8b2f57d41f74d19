"""The user's line that made an autograd node, where torch recorded it (anomaly mode), from memory alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.node_variables import origin_in
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from pyharness.reading.process.memory import Memory
    from pyharness.reading.python.threads import Python
    from pyharness.reading.tensors.layout import TensorLayout

_TRACE = "traceback_"
_MAX_ENTRIES, _MAX_FRAMES, _MAX_TEXT = 16, 500, 4096


def origin_of(memory: Memory, node: int, layout: TensorLayout, python: Python | None) -> str | None:
    """``FILE:LINE``, or ``None`` where nobody recorded it."""
    if python is None or not layout.node_anomaly:
        return None
    try:
        values = python.values
        anomaly = memory.pointer(node + layout.node_anomaly)
        held = memory.pointer(anomaly + layout.anomaly_dict) if anomaly else 0
        if not held:
            return None
        _, entries = values.dict_items(held, _MAX_ENTRIES)
        trace = next((value for key, value in entries if values.string(key, 40) == _TRACE), 0)
        _, lines = values.sequence(trace, _MAX_FRAMES, kind="list") if trace else (0, [])
        return origin_in(values.string(line, _MAX_TEXT) for line in lines)
    except UnreadableError:
        return None
