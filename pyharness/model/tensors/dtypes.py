"""Every c10::ScalarType: its name, its size, and how its bytes become Python numbers."""

from __future__ import annotations

import struct
from array import array
from functools import cache
from typing import TYPE_CHECKING, Literal

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    Number = bool | int | float | complex
    Decode = Callable[[bytes], list[Number]]

Kind = Literal["int", "bool", "float", "complex", "quantized", "raw"]


@frozen
class DType:
    """One ScalarType."""

    name: str
    size: int
    """Bytes an element."""
    kind: Kind
    code: str
    """How an element lies in memory: a `struct` code, or a name of `_DECODERS`."""
    npy: str
    """NumPy type string of the nearest type that holds every value."""

    def decode(self, raw: bytes) -> list[Number]:
        """The elements in ``raw``, a whole number of them."""
        if self.code in _DECODERS:
            return _DECODERS[self.code](raw)
        return list(struct.unpack(f"<{len(raw) // struct.calcsize(self.code)}{self.code}", raw))

    @property
    def is_native(self) -> bool:
        """Whether NumPy has this very type."""
        return self.code in _NATIVE

    def encode(self, values: list[Number]) -> bytes:
        """Floating-point or complex values as elements of the NumPy type ``npy``."""
        parts = [float(value.real) for value in values]
        if self.kind == "complex":
            parts = [part for value in values for part in (float(value.real), float(value.imag))]
        if self.npy == "<f2":
            return struct.pack(f"<{len(parts)}e", *parts)
        return array("d" if self.npy in {"<f8", "<c16"} else "f", parts).tobytes()


_NATIVE = frozenset("?bBhHiIqQefd") | {"ff", "dd"}


def _bfloat16(raw: bytes) -> list[float]:
    wide = bytearray(2 * len(raw))  # a bfloat16 is the upper half of a float32
    wide[2::4], wide[3::4] = raw[0::2], raw[1::2]
    return array("f", bytes(wide)).tolist()


def _pairs(parts: list[float]) -> list[Number]:
    return list(map(complex, parts[0::2], parts[1::2]))


def _small_float(byte: int, exponent_bits: int, bias: int, *, finite: bool, unsigned_zero: bool) -> float:
    """One 8-bit float: ``finite`` has no infinities, ``unsigned_zero`` has NaN in the place of -0 and nowhere else."""
    mantissa_bits = 7 - exponent_bits
    sign = -1.0 if byte & 0x80 else 1.0
    exponent, mantissa = byte >> mantissa_bits & (1 << exponent_bits) - 1, byte & (1 << mantissa_bits) - 1
    if unsigned_zero:
        if byte == 0x80:
            return float("nan")
    elif finite:
        if byte & 0x7F == 0x7F:
            return float("nan")
    elif exponent == (1 << exponent_bits) - 1:
        return float("nan") if mantissa else sign * float("inf")
    if not exponent:
        return sign * float(mantissa * 2.0 ** (1 - bias - mantissa_bits))
    return sign * float((1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias))


@cache
def _table(code: str) -> tuple[float, ...]:
    """The values of the 256 bytes of an 8-bit float."""
    if code == "e8m0fnu":
        return (*(2.0 ** (byte - 127) for byte in range(255)), float("nan"))
    exponent_bits, bias = {"e5m2": (5, 15), "e4m3fn": (4, 7), "e5m2fnuz": (5, 16), "e4m3fnuz": (4, 8)}[code]
    finite, unsigned_zero = "f" in code, "uz" in code
    return tuple(
        _small_float(byte, exponent_bits, bias, finite=finite, unsigned_zero=unsigned_zero) for byte in range(256)
    )


def _float8(code: str) -> Decode:
    return lambda raw: [_table(code)[byte] for byte in raw]


_DECODERS: dict[str, Decode] = {
    "?": lambda raw: [byte != 0 for byte in raw],
    "bf": lambda raw: list(_bfloat16(raw)),
    "ee": lambda raw: _pairs(list(struct.unpack(f"<{len(raw) // 2}e", raw))),
    "ff": lambda raw: _pairs(array("f", raw).tolist()),
    "dd": lambda raw: _pairs(array("d", raw).tolist()),
    "bfbf": lambda raw: _pairs(_bfloat16(raw)),
    **{code: _float8(code) for code in ("e5m2", "e4m3fn", "e5m2fnuz", "e4m3fnuz", "e8m0fnu")},
}


def _raw(name: str, size: int = 1) -> DType:
    return DType(name, size, "raw", "B" if size == 1 else "H", "|u1" if size == 1 else "<u2")


# In the order of AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS (torch/headeronly/core/ScalarType.h): torch only
# ever appends to it, and the number of Undefined, which follows the last, is in the layout.
DTYPES = (
    DType("uint8", 1, "int", "B", "|u1"),
    DType("int8", 1, "int", "b", "|i1"),
    DType("int16", 2, "int", "h", "<i2"),
    DType("int32", 4, "int", "i", "<i4"),
    DType("int64", 8, "int", "q", "<i8"),
    DType("float16", 2, "float", "e", "<f2"),
    DType("float32", 4, "float", "f", "<f4"),
    DType("float64", 8, "float", "d", "<f8"),
    DType("complex32", 4, "complex", "ee", "<c8"),
    DType("complex64", 8, "complex", "ff", "<c8"),
    DType("complex128", 16, "complex", "dd", "<c16"),
    DType("bool", 1, "bool", "?", "|b1"),
    DType("qint8", 1, "quantized", "b", "|i1"),
    DType("quint8", 1, "quantized", "B", "|u1"),
    DType("qint32", 4, "quantized", "i", "<i4"),
    DType("bfloat16", 2, "float", "bf", "<f4"),
    _raw("quint4x2"),
    _raw("quint2x4"),
    *(_raw(name) for name in ("bits1x8", "bits2x4", "bits4x2", "bits8")),
    _raw("bits16", 2),
    DType("float8_e5m2", 1, "float", "e5m2", "<f4"),
    DType("float8_e4m3fn", 1, "float", "e4m3fn", "<f4"),
    DType("float8_e5m2fnuz", 1, "float", "e5m2fnuz", "<f4"),
    DType("float8_e4m3fnuz", 1, "float", "e4m3fnuz", "<f4"),
    DType("uint16", 2, "int", "H", "<u2"),
    DType("uint32", 4, "int", "I", "<u4"),
    DType("uint64", 8, "int", "Q", "<u8"),
    *(_raw(f"uint{bits}") for bits in range(1, 8)),
    *(_raw(f"int{bits}") for bits in range(1, 8)),
    DType("float8_e8m0fnu", 1, "float", "e8m0fnu", "<f4"),
    _raw("float4_e2m1fn_x2"),
    DType("bcomplex32", 4, "complex", "bfbf", "<c8"),
)
PACKED = frozenset({"quint4x2", "quint2x4"})
"""Types of which several elements share a byte: their sizes count elements, not bytes."""
BY_NAME = {dtype.name: dtype for dtype in DTYPES}
