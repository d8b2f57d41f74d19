"""Eigen's tensors, ``unsupported/Eigen/CXX11/Tensor``, and its sparse matrices, ``Eigen/src/SparseCore``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.arrays.element_types import dtype_of
from pyharness.ingdb.tensors.arrays.sequences import first_of, numbers
from pyharness.ingdb.tensors.arrays.strided import column_major, row_major, strided
from pyharness.ingdb.tensors.members import number_in

if TYPE_CHECKING:
    from pyharness.model.tensors.tensor import TensorInfo

_ROW_MAJOR = 1
TENSORS = "Eigen::(?:Tensor|TensorFixedSize|TensorMap)<.*"
SPARSE = "Eigen::SparseMatrix<.*"


def tensor(value: gdb.Value) -> TensorInfo:
    """A ``Tensor``, a ``TensorFixedSize``, or the ``TensorMap`` of one."""
    kind = plain_type(value.type)
    name = (kind.name or "").partition("<")[0]
    of = plain_type(kind.template_argument(0)) if name == "Eigen::TensorMap" else kind
    storage = value if name == "Eigen::TensorMap" else value["m_storage"]
    sizes = _sizes(of, storage)
    data = storage["m_data"]
    address = int(first_of(data) if plain_type(data.type).code == gdb.TYPE_CODE_ARRAY else data)
    strides = (row_major if (number_in(of, 2) or 0) & _ROW_MAJOR else column_major)(sizes)
    return strided(value, name, dtype_of(of.template_argument(0)), address, sizes, strides)


def _sizes(of: gdb.Type, storage: gdb.Value) -> list[int]:
    """The dimensions, which are in the type of a tensor of a fixed size."""
    if not (of.name or "").startswith("Eigen::TensorFixedSize<"):
        return numbers(storage["m_dimensions"])
    name = plain_type(of.template_argument(1)).name or ""  # gdb does not tell of the arguments of a pack
    return [int(size) for size in re.findall(r"\d+", name.partition("<")[2])]


def sparse(value: gdb.Value) -> TensorInfo:
    """A sparse matrix; its parts are the indices and the values, compressed along its rows or columns."""
    kind = plain_type(value.type)
    is_row_major = bool((number_in(kind, 1) or 0) & _ROW_MAJOR)
    outer, inner = int(value["m_outerSize"]), int(value["m_innerSize"])
    sizes = (outer, inner) if is_row_major else (inner, outer)
    element, index = dtype_of(kind.template_argument(0)), dtype_of(kind.template_argument(2))
    whole = strided(value, "Eigen::SparseMatrix", element, 1, sizes, row_major(sizes))
    if whole.state != "defined":
        return whole
    counts, storage = int(value["m_innerNonZeros"]), value["m_data"]
    starts = int(value["m_outerIndex"])
    held = int(storage["m_size"])
    listed = [
        ("starts", index, starts, outer + 1 if starts else 0),
        ("counts", index, counts, outer if counts else 0),
        ("columns" if is_row_major else "rows", index, int(storage["m_indices"]), held),
        ("values", element, int(storage["m_values"]), held),
    ]
    return replace(
        whole,
        layout=f"sparse_cs{'r' if is_row_major else 'c'}",
        strides=(),
        data=0,
        unreadable="sparse: see its parts",
        parts=tuple(
            (name, strided(value, "Tensor", of, data, (length,), (1,)))
            for name, of, data, length in listed
            if length or name != "counts"
        ),
    )
