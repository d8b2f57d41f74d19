"""How numpy's arrays are shown among Python's values: as tensors are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb import torch_process
from pyharness.ingdb.tensors.elements import element_reader
from pyharness.model.tensors.text import elements_line
from pyharness.reading.python import values as python_values
from pyharness.reading.python.numpy_array import NDARRAY, array_at

if TYPE_CHECKING:
    from pyharness.reading.python.values import Values


def register() -> None:
    """Have Python's values show arrays by their dtype, shape and elements."""
    python_values.hook(_array)


def _array(values: Values, address: int, names: tuple[str, ...]) -> str | None:
    if NDARRAY not in names:
        return None
    info = array_at(values.memory, address)
    if info is None:
        return None
    elements = elements_line(element_reader(torch_process.read, info), info.sizes, info.strides)
    return f"ndarray {info.dtype} {list(info.sizes)} {elements}"
