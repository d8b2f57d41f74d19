"""Writes one element of a tensor into the program's memory; autograd's version counter does not learn of it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.process.writable import need_a_process
from pyharness.model.errors import HarnessError
from pyharness.model.tensors.dtypes import BY_NAME

if TYPE_CHECKING:
    from pyharness.model.tensors.dtypes import DType
    from pyharness.model.tensors.tensor import TensorInfo


def write_element(info: TensorInfo, offset: int, text: str) -> None:
    """Write the number in ``text`` to the element that lies ``offset`` elements after the first."""
    need_a_process()
    if info.conjugated or info.negated or info.quantization:
        raise HarnessError("An element of a lazy or quantized view cannot be set.", "Set it in Python.")
    dtype = BY_NAME[info.dtype]
    raw = encoded(dtype, text)
    try:
        gdb.selected_inferior().write_memory(info.data + offset * dtype.size, raw)
    except gdb.error as error:
        raise HarnessError(f"The element cannot be written: {error}.", "Its memory may be read-only.") from error


def encoded(dtype: DType, text: str) -> bytes:
    """The number in ``text`` as an element lies in memory; ``HarnessError`` where it is no such number."""
    try:
        if dtype.kind == "complex" and dtype.code in {"ff", "dd"}:
            value = complex(text.replace(" ", ""))
            return struct.pack(f"<{dtype.code}", value.real, value.imag)
        if dtype.code == "bf":
            return _bfloat16(float(text))
        if dtype.kind == "float" and len(dtype.code) == 1:
            return struct.pack(f"<{dtype.code}", float(text))
        if dtype.kind == "bool":
            return struct.pack("<?", {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()])
        if dtype.kind == "int":
            return struct.pack(f"<{dtype.code}", int(text, 0))
    except (ValueError, KeyError, struct.error, OverflowError) as error:
        raise HarnessError(
            f"{text!r} is not a value of {dtype.name}.", "Give a number that the tensor's dtype can hold."
        ) from error
    raise HarnessError(f"Elements of {dtype.name} cannot be set from here.", "Set it in Python.")


def _bfloat16(value: float) -> bytes:
    """The upper half of a float32, rounded to the nearest even."""
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    if value == value:  # noqa: PLR0124  (a NaN stays one)
        bits += 0x7FFF + (bits >> 16 & 1)
    return struct.pack("<H", bits >> 16 & 0xFFFF)
