"""How a torch.Tensor is shown at a Python stop: the same lines as from gdb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.debuggee.shown.items import Child, Group, Line, line_of
from pyharness.debuggee.shown.tensor_reading import element_reader, gradient_of, info_of, statistics, undisturbed
from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.model.tensors.text import elements_line, number, one_line
from pyharness.model.tensors.variables import (
    PAGE,
    no_elements,
    statistics_variables,
    storage_facts,
    storage_line,
    tensor_facts,
)
from pyharness.model.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.tensors.tensor import TensorInfo

_PARTS = {
    "sparse_coo": {"indices": "_indices", "values": "_values"},
    "sparse_csr": {"compressed_indices": "crow_indices", "plain_indices": "col_indices", "values": "values"},
    "sparse_csc": {"compressed_indices": "ccol_indices", "plain_indices": "row_indices", "values": "values"},
}
_PARTS |= {"sparse_bsr": _PARTS["sparse_csr"], "sparse_bsc": _PARTS["sparse_csc"]}


def text(tensor: Any) -> str:
    """One line; a bounded number of elements is read."""
    info = info_of(tensor)
    readable = info.state == "defined" and not info.unreadable
    return one_line(info, element_reader(tensor, info) if readable else None)


def children(tensor: Any) -> Iterator[Child]:
    """Facts, statistics, storage, grad, grad_fn, the parts of a sparse tensor, and elements or pages of them."""
    info = info_of(tensor)
    yield from map(line_of, tensor_facts(info))
    if info.state != "defined":
        return
    itemsize = BY_NAME[info.dtype].size if info.dtype in BY_NAME else 0
    if info.unreadable:
        yield line_of(no_elements(info))
    elif info.numel:
        yield Child("statistics", Group(f"of {info.numel} elements", lambda: _statistics(tensor, info)))
    yield Child("storage", Group(storage_line(info, itemsize), lambda: _storage(tensor, info, itemsize)))
    yield from _related(tensor)
    if not info.unreadable and info.sizes and info.numel:
        yield from _Rows(tensor, info).all(0, 0)


def _related(tensor: Any) -> list[Child]:
    """What a tensor refers to: its grad, its node, the parts of a sparse one."""
    with undisturbed():
        parts = _PARTS.get(str(tensor.layout).removeprefix("torch."), {})
        return [
            Child("grad", _or_none(gradient_of(tensor)), ".grad"),
            Child("grad_fn", _or_none(tensor.grad_fn), ".grad_fn"),
            *(Child(name, getattr(tensor.detach(), method)(), f".{method}()") for name, method in parts.items()),
        ]


def _or_none(value: Any) -> Any:
    return Line("None") if value is None else value


def _statistics(tensor: Any, info: TensorInfo) -> Iterator[Child]:
    try:
        yield from map(line_of, statistics_variables(statistics(tensor, info)))
    except (RuntimeError, NotImplementedError, TypeError, OSError) as error:
        yield line_of(Variable("statistics", "<not to be had>", note=str(error).split("\n", 1)[0]))


def _storage(tensor: Any, info: TensorInfo, itemsize: int) -> Iterator[Child]:
    yield from map(line_of, storage_facts(info, itemsize))
    count = _owners(tensor)
    if count:
        yield Child("shared by", Line(f"{count} owner{'s' * (count != 1)}"))


def _owners(tensor: Any) -> int:
    """Owners of the storage without the object that is made to ask; 0 where there is no storage to be asked."""
    with undisturbed() as torch:
        count = getattr(torch._C, "_storage_Use_Count", None)
        try:
            storage = tensor.untyped_storage()
            return int(count(storage._cdata)) - 1 if count else 0
        except (RuntimeError, NotImplementedError, TypeError):
            return 0


class _Rows:
    """Elements, dimension by dimension; more than a page of them in groups."""

    def __init__(self, tensor: Any, info: TensorInfo) -> None:
        self._info = info
        self._read = element_reader(tensor, info)

    def all(self, dimension: int, offset: int) -> Iterator[Child]:
        size = self._info.sizes[dimension]
        if size <= PAGE:
            yield from self._some(dimension, offset, 0, size)
            return
        yield from self._pages(dimension, offset, 0, size)

    def _pages(self, dimension: int, offset: int, start: int, stop: int) -> Iterator[Child]:
        """At most a page of groups, which hold elements, or groups of groups."""
        step = PAGE
        while step * PAGE < stop - start:
            step *= PAGE
        for first in range(start, stop, step):
            last = min(first + step, stop)
            suffix = f"[{first - start}:{last - start}]"
            yield Child(f"[{first} … {last - 1}]", self._page(dimension, offset, first, last), suffix)

    def _page(self, dimension: int, offset: int, first: int, last: int) -> Any:
        listed = self._some if last - first <= PAGE else self._pages
        return Group(f"{last - first} items", lambda: listed(dimension, offset, first, last))

    def _some(self, dimension: int, offset: int, first: int, last: int) -> Iterator[Child]:
        for index in range(first, last):
            place = offset + index * self._info.strides[dimension]
            yield Child(f"[{index}]", self._one(dimension, place), f"[{index - first}]")

    def _one(self, dimension: int, offset: int) -> Any:
        following = dimension + 1
        if following == len(self._info.sizes):
            return Line(number(self._read(offset), 8))
        sizes, strides = self._info.sizes[following:], self._info.strides[following:]
        shown = elements_line(lambda further: self._read(offset + further), sizes, strides)
        return Group(shown, lambda: self.all(following, offset))
