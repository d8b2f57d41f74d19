"""Bytes as numbers, for every type that torch can convert, against torch."""

import math
import struct

import numpy as np
import pytest
import torch

from pyharness.model.tensors.dtypes import BY_NAME, DTYPES

SMALL = [name for name in BY_NAME if name.startswith("float8") or name in {"float16", "bfloat16"}]
COMPARED = [
    *SMALL,
    "complex32",
    "uint8",
    "int8",
    "int16",
    "int64",
    "uint16",
    "uint32",
    "uint64",
    "float64",
    "complex128",
]


def same(left, right):
    """Equal with the sign of zero; NaN equals NaN."""
    pairs = zip((left.real, left.imag), (right.real, right.imag), strict=True)
    return all(str(one) == str(other) and (one == other or math.isnan(one)) for one, other in pairs)


def test_order_and_sizes_are_torchs():
    for name, dtype in ((one.name, one) for one in DTYPES):
        known = getattr(torch, name, None)
        assert known is None or known.itemsize == dtype.size, name
    missing = {str(one).removeprefix("torch.") for one in vars(torch).values() if isinstance(one, torch.dtype)}
    assert missing <= set(BY_NAME)


@pytest.mark.parametrize("name", COMPARED)
def test_every_bit_pattern_is_torchs(name):
    """All 256 of one byte, all 65,536 of two, and as many of more."""
    size = BY_NAME[name].size
    patterns = bytes(range(256)) if size == 1 else b"".join(struct.pack("<H", word) for word in range(1 << 16))
    tensor = torch.frombuffer(bytearray(patterns), dtype=torch.uint8).view(getattr(torch, name))
    wide = torch.complex128 if tensor.is_complex() else torch.float64 if tensor.is_floating_point() else tensor.dtype
    found, wanted = BY_NAME[name].decode(patterns), tensor.to(wide).tolist()
    assert len(found) == len(wanted)
    assert all(map(same, found, wanted))


def test_packed_and_raw_types_are_shown_as_stored():
    assert BY_NAME["bits8"].decode(b"\x00\xff") == [0, 255]
    assert BY_NAME["bits16"].decode(b"\x01\x02") == [0x0201]
    assert BY_NAME["bool"].decode(b"\x00\x01\x02") == [False, True, True]


@pytest.mark.parametrize("dtype", [one for one in DTYPES if one.kind in {"float", "complex"}], ids=lambda one: one.name)
def test_encoding_is_what_numpy_reads(dtype):
    values = [1.5 - 2j, 0.25, -3j] if dtype.kind == "complex" else [1.5, -0.25, math.inf]
    assert np.frombuffer(dtype.encode(values), dtype.npy).tolist() == values
