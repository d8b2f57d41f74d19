"""The dtype of a C++ type: what torch calls elements of it."""

from __future__ import annotations

import re

import gdb

from pyharness.ingdb.tensors.address import plain_type
from pyharness.model.tensors.dtypes import BY_NAME

_INTEGERS = frozenset({gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM})
_SMALL = re.compile(r"(?:c10|at|Eigen|cv)::(half|bfloat16|float16_t|Float8_\w+)", re.IGNORECASE)
_COMPLEX = re.compile(r"(?:std|c10)::complex<.*>")
_COMPLEX_HALF = "c10::complex<c10::Half>"


def dtype_of(kind: gdb.Type) -> str:
    """``float32`` of ``float``; the type's own name where torch has none for it."""
    kind = plain_type(kind)
    name = kind.name or str(kind)
    found = _guess(kind, name)
    return found if found in BY_NAME and BY_NAME[found].size == kind.sizeof else name


def _guess(kind: gdb.Type, name: str) -> str:
    bits = 8 * kind.sizeof
    if kind.code == gdb.TYPE_CODE_BOOL:
        return "bool"
    if kind.code == gdb.TYPE_CODE_FLT:
        return f"float{bits}"
    if kind.code == gdb.TYPE_CODE_COMPLEX or _COMPLEX.fullmatch(name):
        return f"complex{bits}"
    if kind.code in _INTEGERS:
        return f"{'uint' if name.startswith('unsigned') or name == 'char8_t' else 'int'}{bits}"
    small = _SMALL.fullmatch(name)
    return {"half": "float16", "float16_t": "float16"}.get(small[1].lower(), small[1].lower()) if small else ""


def size_of(kind: gdb.Type) -> int:
    """Bytes of an element; at least 1, so that strides can be divided by it."""
    return max(plain_type(kind).sizeof, 1)
