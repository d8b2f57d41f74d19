"""Writes a tensor as a NumPy ``.npy`` file, with the standard library alone."""

from __future__ import annotations

import os
import struct
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.ingdb.tensors.blocks import raw_blocks
from pyharness.model.errors import HarnessError
from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.model.tensors.elements import values
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.model.tensors.dtypes import DType
    from pyharness.model.tensors.tensor import TensorInfo

MAX_BYTES = 16 << 30
_PART = 1 << 16


def header(type_string: str, sizes: tuple[int, ...]) -> bytes:
    """Magic, version 1.0 and the description, padded to 64 bytes (numpy.lib.format)."""
    text = f"{{'descr': {type_string!r}, 'fortran_order': False, 'shape': {sizes!r}, }}"
    padding = -(len(text) + 11) % 64
    body = f"{text}{' ' * padding}\n".encode("latin-1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body


def save(read: Callable[[int, int], bytes], info: TensorInfo, path: str) -> str:
    """Write the elements to ``path``, which gets the suffix ``.npy`` if it has none; a sentence on what was written."""
    if info.state != "defined" or info.unreadable:
        why = info.problem or info.unreadable or f"the tensor is {info.state}"
        raise HarnessError(f"This tensor cannot be saved: {why}.", "Save one whose elements are in this memory.")
    dtype = BY_NAME[info.dtype]
    # A conjugate or negative view is resolved, a quantized tensor is saved as it is stored.
    stored = not (info.conjugated or info.negated) and (dtype.is_native or dtype.kind == "raw")
    size = prod(info.sizes) * int(dtype.npy[2:])
    if size > MAX_BYTES:
        raise HarnessError(f"This tensor has {size} bytes of elements.", "Save a part of it: at most 16 GiB.")
    target = Path(path) if Path(path).suffix else Path(path).with_suffix(".npy")
    _write(target, header(dtype.npy, info.sizes), _elements(read, info, dtype, stored=stored))
    return f"Saved {info.dtype} {list(info.sizes)} as {dtype.npy} to {target}{_remark(info, dtype)}."


def _remark(info: TensorInfo, dtype: DType) -> str:
    if info.quantization:
        return f", as stored: value = (stored - {info.quantization.zero_point}) * {info.quantization.scale}"
    if dtype.kind in {"raw", "quantized"}:
        return ", as stored"
    return "" if dtype.is_native else ", widened without loss: NumPy has no such type"


def _elements(read: Callable[[int, int], bytes], info: TensorInfo, dtype: DType, *, stored: bool) -> Iterator[bytes]:
    for block in raw_blocks(read, info):
        if stored:
            yield block
            continue
        part = _PART * dtype.size
        for start in range(0, len(block), part):
            yield dtype.encode(values(info, block[start : start + part]))


def _write(target: Path, head: bytes, blocks: Iterator[bytes]) -> None:
    """All of the file or nothing of it."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as stream:
            stream.write(head)
            stream.writelines(blocks)
        temporary.replace(target)
    except (OSError, UnreadableError) as error:
        temporary.unlink(missing_ok=True)
        remedy = "Choose a file in a folder that you can write to."
        if isinstance(error, UnreadableError):
            remedy = "Its memory is not in this process or core (freed, or left out of the core file)."
        raise HarnessError(f"Cannot save to {target}: {error}.", remedy) from error
