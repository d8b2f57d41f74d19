"""Arrays of xtensor, which are laid out as torch's are: a shape, strides, a buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb.tensors.address import plain_type, referred
from pyharness.ingdb.tensors.arrays.element_types import dtype_of
from pyharness.ingdb.tensors.arrays.sequences import first_of, numbers
from pyharness.ingdb.tensors.arrays.strided import strided
from pyharness.ingdb.tensors.members import member

if TYPE_CHECKING:
    import gdb

    from pyharness.model.tensors.tensor import TensorInfo

XTENSOR = "xt::(?:xarray|xtensor)_(?:container|adaptor)<.*"


def array(value: gdb.Value) -> TensorInfo:
    """An ``xarray`` or an ``xtensor``, or one that has adopted somebody else's buffer."""
    name = (plain_type(value.type).name or "").partition("<")[0]
    sizes, strides = (numbers(member(value, part)) for part in ("m_shape", "m_strides"))
    first = first_of(referred(member(value, "m_storage")))
    return strided(value, name, dtype_of(first.type.strip_typedefs().target()), int(first), sizes, strides)
