"""How torch's small floating-point numbers are shown: by their value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb.printers.registry import shows
from pyharness.model.tensors.dtypes import DTYPES
from pyharness.model.tensors.text import number

if TYPE_CHECKING:
    import gdb

_NAMES = {"Half": "float16", "BFloat16": "bfloat16"}
_DTYPES = {each.name: each for each in DTYPES}


@shows(r"c10::(?:Half|BFloat16|Float8_\w+)")
def _small(value: gdb.Value) -> str:
    name = (value.type.strip_typedefs().unqualified().name or "").rpartition("::")[2]
    known = _DTYPES[_NAMES.get(name, name.lower())]
    bits = value["x"]
    return number(known.decode(int(bits).to_bytes(bits.type.sizeof, "little"))[0])
