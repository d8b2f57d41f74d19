"""Where each torch keeps the calls of process groups in its flight recorder, in bytes.

The source is ``torch/csrc/distributed/c10d/FlightRecorder.hpp``. ``tests/reading/recorder_offsets.cpp``, compiled with
the headers of torch 2.8 to 2.14, printed every number; a test measures the installed torch again.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace

from pyharness.model.frozen import frozen

INSTANCES = {
    "libtorch_cpu.so": "_ZZN4c10d14FlightRecorderIN3c105EventEE3getEvE8instance",
    "libtorch_cuda.so": "_ZZN4c10d14FlightRecorderIN2at4cuda9CUDAEventEE3getEvE8instance",
}
"""Library → the symbol of the pointer to its recorder: Gloo and others note in the first, NCCL in the second."""


@frozen
class RecorderLayout:
    """Offsets of one torch; the defaults are those of torch 2.10 to 2.14."""

    # c10d::FlightRecorder<Event>
    entries: int = 48
    """A std::vector of entries."""
    capacity: int = 72
    count: int = 88
    """The number of calls since the last reset."""
    # c10d::FlightRecorder<Event>::Entry
    entry_size: int = 512
    group_name: int = 24
    """std::tuple<name, description>: libstdc++ keeps the last one first."""
    sequence: int = 88
    message_sequence: int = 96
    operation: int = 112
    traceback: int = 144
    created: int = 176
    """Nanoseconds since the epoch."""
    timeout: int = 184
    """Milliseconds."""
    is_message: int = 192
    started: int = 208
    """std::optional<int64_t>: the value, then whether there is one."""
    completed: int = 224
    input_ranks: int = 240
    """c10::SmallVector<int64_t>: the number of dimensions of each input."""
    input_dtypes: int = 288
    output_ranks: int = 312
    output_dtypes: int = 360
    sizes: int = 384
    """c10::SmallVector<int64_t>: of all inputs, then of all outputs."""
    thread_name: int = 472
    retired: int = 504
    # torch::CapturedTraceback
    frames: int = 8
    """A std::vector of (PyCodeObject*, int), 16 bytes each, innermost first."""
    # c10d::ProcessGroup
    group_rank: int = 24
    """The rank of this process in it; its size is behind that, both of 32 bits."""


_NEWEST = RecorderLayout()
_EPOCH = 8
"""Bytes of ``reset_epoch_``, which came with torch 2.10 as an entry's second member."""
_NOT_BEHIND_IT = {"entries", "capacity", "count", "frames", "group_rank"}
_BEFORE_EPOCHS = replace(
    _NEWEST,
    **{
        field.name: getattr(_NEWEST, field.name) - _EPOCH
        for field in fields(RecorderLayout)
        if field.name not in _NOT_BEHIND_IT
    },
)
MEASURED = {(2, 8): _BEFORE_EPOCHS, (2, 10): _NEWEST}


def for_version(version: str | None) -> RecorderLayout | None:
    """The layout of a torch version (``"2.13.0+cpu"``); ``None`` before 2.8, whose recorder is NCCL's alone."""
    found = re.match(r"(\d+)\.(\d+)", version or "")
    if not found:
        return _NEWEST
    older = [one for one in MEASURED if one <= (int(found[1]), int(found[2]))]
    return MEASURED[max(older)] if older else None


def as_numbers(layout: RecorderLayout) -> dict[str, int]:
    """Every offset by its name, as the probe prints them."""
    return {field.name: getattr(layout, field.name) for field in fields(layout)}
