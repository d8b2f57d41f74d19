"""Eigen's dense classes as tensors: matrices and arrays, maps, references, blocks, what transposes or wraps them.

Sources: DenseStorage.h, MapBase.h, Stride.h, Block.h, Transpose.h, ArrayWrapper.h and Diagonal.h of Eigen 3.4.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.tensors.address import plain_type, referred
from pyharness.ingdb.tensors.arrays.element_types import dtype_of
from pyharness.ingdb.tensors.arrays.sequences import first_of
from pyharness.ingdb.tensors.arrays.strided import strided
from pyharness.ingdb.tensors.members import member, number_in
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.model.tensors.tensor import TensorInfo

_DYNAMIC = -1
_ROW_MAJOR = 1
"""The bit of ``Eigen::StorageOptions``."""
_CLASS = re.compile(r"Eigen::(\w+)<.*>")
_OWN = r"(?:const )?Eigen::(?:Matrix|Array)<"
_OF_DENSE = r"(?:const )?Eigen::(?:Matrix|Array|Map|Ref|Block|VectorBlock|Transpose|ArrayWrapper|MatrixWrapper)<"
_VIEWS = "Block|VectorBlock|Transpose|Diagonal|ArrayWrapper|MatrixWrapper"
DENSE = rf"Eigen::(?:(?:Matrix|Array)<.*|(?:Map|Ref)<{_OWN}.*|(?:{_VIEWS})<{_OF_DENSE}.*)"
"""The classes that `dense` reads, as a regular expression: those of others have no elements in memory."""


@frozen
class Dense:
    """Rows and columns, and how far apart they are, in elements."""

    element: gdb.Type
    data: int
    rows: int
    columns: int
    row_step: int
    """From a row to the next."""
    column_step: int
    is_vector: bool
    """Whether its type has one row or one column: it is indexed by one number."""

    @property
    def sizes(self) -> list[int]:
        """The sizes of its dimensions: a vector has one, along its rows or its columns."""
        return self._along([self.rows, self.columns])

    @property
    def strides(self) -> list[int]:
        """How far apart the elements of each dimension are."""
        return self._along([self.row_step, self.column_step])

    def _along(self, both: list[int]) -> list[int]:
        return both if not self.is_vector else both[1:] if self.rows == 1 else both[:1]


def dense(value: gdb.Value) -> TensorInfo:
    """What a value of a class of `DENSE` is; one dimension where the type is that of a vector.

    Raises:
        gdb.error: The value has other members than those of Eigen 3.4.

    """
    name = _name(value)
    found = layout_of(value)
    return strided(value, f"Eigen::{name}", dtype_of(found.element), found.data, found.sizes, found.strides)


def _name(value: gdb.Value) -> str:
    known = _CLASS.fullmatch(plain_type(value.type).name or "")
    return known[1] if known else ""


def layout_of(value: gdb.Value) -> Dense:
    """Where the elements of a value of a class of `DENSE` are; ``gdb.error`` as of `dense`."""
    reader = _READERS.get(_name(value))
    if reader is None:
        raise gdb.error(f"{plain_type(value.type)} has no elements in memory")
    return reader(value)


def _plain(value: gdb.Value) -> Dense:
    """A matrix or an array, which owns its elements."""
    kind = plain_type(value.type)
    rows, columns = (_fixed_or(kind, 1, value, "m_rows"), _fixed_or(kind, 2, value, "m_cols"))
    data = 0 if not rows * columns else _data(member(value, "m_storage"))
    return _laid_out(kind, data, rows, columns)


def _fixed_or(kind: gdb.Type, argument: int, value: gdb.Value, name: str) -> int:
    fixed = number_in(kind, argument)
    return fixed if fixed not in {None, _DYNAMIC} else _number(member(member(value, "m_storage"), name))


def _data(storage: gdb.Value) -> int:
    data = member(storage, "m_data")
    if plain_type(data.type).code == gdb.TYPE_CODE_PTR:
        return int(data)
    return int(first_of(data["array"]))


def _laid_out(kind: gdb.Type, data: int, rows: int, columns: int) -> Dense:
    """Elements without gaps, in the order that the type of a matrix says."""
    steps = (columns, 1) if _is_row_major(kind) else (1, rows)
    return Dense(kind.template_argument(0), data, rows, columns, *steps, _is_vector(kind))


def _is_row_major(kind: gdb.Type) -> bool:
    return bool((number_in(kind, 3) or 0) & _ROW_MAJOR)


def _is_vector(kind: gdb.Type) -> bool:
    return 1 in {number_in(kind, 1), number_in(kind, 2)}


def _number(value: gdb.Value) -> int:
    """A number, or an Eigen's ``variable_if_dynamic``, which has it in its type where it is known there."""
    kind = plain_type(value.type)
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return int(value)
    if any(field.name == "m_value" for field in kind.fields()):
        return int(value["m_value"])
    return number_in(kind, 1) or 0


def _mapped(value: gdb.Value) -> Dense:
    """Elements of somebody else: a ``Map`` or a ``Ref``, with strides of its own."""
    of = _matrix_type(value)
    data, rows, columns = int(member(value, "m_data")), *(_number(member(value, n)) for n in ("m_rows", "m_cols"))
    stride = member(value, "m_stride")
    outer, inner = (_number(member(stride, name)) for name in ("m_outer", "m_inner"))
    inner = inner or 1
    row_major = _is_row_major(of)
    outer = outer or inner * (columns if row_major else rows)
    steps = (outer, inner) if row_major else (inner, outer)
    return Dense(of.template_argument(0), data, rows, columns, *steps, _is_vector(of))


def _matrix_type(value: gdb.Value) -> gdb.Type:
    return plain_type(plain_type(value.type).template_argument(0))


def _block(value: gdb.Value) -> Dense:
    """A part of a matrix or of a map, whose steps are its own."""
    whole = layout_of(referred(member(value, "m_xpr")))
    kind = plain_type(value.type)
    rows, columns = (_number(member(value, name)) for name in ("m_rows", "m_cols"))
    is_vector = _name(value) == "VectorBlock" or 1 in {number_in(kind, 1), number_in(kind, 2)}
    data = int(member(value, "m_data"))
    return Dense(whole.element, data, rows, columns, whole.row_step, whole.column_step, is_vector)


def _transposed(value: gdb.Value) -> Dense:
    whole = layout_of(referred(member(value, "m_matrix")))
    steps = whole.column_step, whole.row_step
    return Dense(whole.element, whole.data, whole.columns, whole.rows, *steps, whole.is_vector)


def _diagonal(value: gdb.Value) -> Dense:
    whole = layout_of(referred(member(value, "m_matrix")))
    index = _number(member(value, "m_index"))
    below, beside = max(-index, 0), max(index, 0)
    length = max(min(whole.rows - below, whole.columns - beside), 0)
    begins = (below * whole.row_step + beside * whole.column_step) * whole.element.sizeof
    step = whole.row_step + whole.column_step
    return Dense(whole.element, whole.data + begins, length, 1, step, step, is_vector=True)


def _wrapped(value: gdb.Value) -> Dense:
    return layout_of(referred(member(value, "m_expression")))


_READERS: dict[str, Callable[[gdb.Value], Dense]] = {
    "Matrix": _plain,
    "Array": _plain,
    "Map": _mapped,
    "Ref": _mapped,
    "Block": _block,
    "VectorBlock": _block,
    "Transpose": _transposed,
    "Diagonal": _diagonal,
    "ArrayWrapper": _wrapped,
    "MatrixWrapper": _wrapped,
}
