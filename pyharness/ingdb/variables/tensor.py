"""Tensors as variables, from memory alone: facts, statistics, storage, grad, grad_fn, elements by their number."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from pyharness.ingdb import torch_process
from pyharness.ingdb.tensors.elements import element_reader
from pyharness.ingdb.tensors.format import one_line
from pyharness.ingdb.tensors.reading import read_tensor
from pyharness.ingdb.tensors.statistics import statistics
from pyharness.ingdb.tensors.write import write_element
from pyharness.ingdb.variables.items import Content, Item, Listed
from pyharness.model.errors import HarnessError
from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.model.tensors.text import elements_line, number
from pyharness.model.tensors.variables import (
    no_elements,
    statistics_variables,
    storage_facts,
    storage_line,
    tensor_facts,
)
from pyharness.model.variable import Variable
from pyharness.reading.process.memory import Memory, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.tensors.tensor import TensorInfo

_REFERENCES = 8
"""Where an intrusive_ptr_target counts its owners: the lower half of a word, in every torch since 2.0."""


def tensor_item(name: str, info: TensorInfo, kind: str = "", evaluate: str | None = None) -> Item:
    """A tensor with what it expands into; ``evaluate`` is its expression, in Python if ``kind`` is no C++ type."""
    text = one_line(torch_process.read, info)
    memory = f"{info.data:#x}" if info.data else None
    note = info.problem if info.state == "corrupt" else None
    shown = Variable(name, text, kind or "Tensor", memory=memory, evaluate=evaluate, note=note)
    python = evaluate if "::" not in kind else None
    return Item(shown, TensorContent(info, python) if info.state == "defined" else None)


def is_indexable(info: TensorInfo) -> bool:
    """Whether it has elements that can be read, by a number."""
    return info.state == "defined" and not info.unreadable and bool(info.sizes)


class TensorContent(Content):
    """What a tensor expands into."""

    def __init__(self, info: TensorInfo, evaluate: str | None = None) -> None:
        self._info = info
        self._evaluate = evaluate
        self._facts = tensor_facts(info)
        elements = bool(info.unreadable or info.numel)
        of_torch = len(("storage", "grad", "grad_fn")) if info.is_of_torch else 0
        self.named = len(self._facts) + elements + of_torch + len(info.parts)
        self._rows = Rows(info, 0, 0, evaluate) if is_indexable(info) else None
        self.indexed = self._rows.indexed if self._rows else 0

    @property
    def info(self) -> TensorInfo:
        """The tensor."""
        return self._info

    def _parts(self) -> Iterator[Item]:
        info = self._info
        itemsize = BY_NAME[info.dtype].size if info.dtype in BY_NAME else 0
        if info.unreadable:
            yield Item(no_elements(info))
        elif info.numel:
            yield Item(Variable("statistics", f"of {info.numel} elements"), _Statistics(info))
        if info.is_of_torch:
            yield Item(Variable("storage", storage_line(info, itemsize)), _Storage(info, itemsize))
            yield self._grad()
            yield self._grad_fn()
        for name, part in info.parts:
            yield tensor_item(name, part)

    def _grad(self) -> Item:
        address = gradient_address(self._info) if self._info.has_grad else 0
        evaluate = f"{self._evaluate}.grad" if self._evaluate else None
        if not address:
            return Item(Variable("grad", "None", evaluate=evaluate))
        info = read_tensor(torch_process.read, address, torch_process.tensor_layout())
        return tensor_item("grad", info, evaluate=evaluate)

    def _grad_fn(self) -> Item:
        from pyharness.ingdb.variables.of_torch.node import node_item

        node = self._info.grad_fn
        evaluate = f"{self._evaluate}.grad_fn" if self._evaluate else None
        if node is None:
            return Item(Variable("grad_fn", "None", evaluate=evaluate))
        return node_item("grad_fn", node.address, evaluate=evaluate)

    def named_items(self, start: int, stop: int) -> list[Item]:
        """Facts, statistics, storage, grad, grad_fn, and the parts of a sparse tensor."""
        return [*map(Item, self._facts), *self._parts()][start:stop]

    def indexed_items(self, start: int, stop: int) -> Iterator[Item]:
        """Elements, or rows of them."""
        return self._rows.indexed_items(start, stop) if self._rows else iter(())

    def assign(self, name: str, value: str) -> Item:
        """Write an element of a tensor with one dimension."""
        return self._rows.assign(name, value) if self._rows else super().assign(name, value)


def gradient_address(info: TensorInfo) -> int:
    """The TensorImpl of a tensor's grad, 0 where there is none to be read."""
    memory, layout = Memory(torch_process.read), torch_process.tensor_layout()
    try:
        meta = memory.pointer(info.address + layout.autograd_meta)
        return memory.pointer(meta + layout.grad) if meta else 0
    except UnreadableError:
        return 0


class _Statistics(Content):
    """Computed when it is opened: at most some million elements are read."""

    named = 6

    def __init__(self, info: TensorInfo) -> None:
        self._info = info

    def named_items(self, start: int, stop: int) -> list[Item]:
        """Minimum, maximum, mean, standard deviation, NaN, infinities."""
        try:
            shown = statistics_variables(statistics(torch_process.read, self._info))
        except UnreadableError as error:
            reason = f"its memory is not there: {error}"
            shown = [Variable("statistics", "<unreadable>", note=reason)]
        return list(map(Item, shown[start : stop + 1]))


class _Storage(Listed):
    """Where the elements lie, and how many own them."""

    def __init__(self, info: TensorInfo, itemsize: int) -> None:
        super().__init__(map(Item, [*storage_facts(info, itemsize), *_owners(info)]))


def _owners(info: TensorInfo) -> Iterator[Variable]:
    memory = Memory(torch_process.read)
    try:
        storage = memory.pointer(info.address + torch_process.tensor_layout().storage)
        if storage:
            count = memory.unsigned(storage + _REFERENCES, 4)
            yield Variable("shared by", f"{count} owner{'s' * (count != 1)}")
    except UnreadableError:
        return


class Rows(Content):
    """The elements of one dimension: numbers, or rows of the dimensions that follow."""

    def __init__(self, info: TensorInfo, dimension: int, offset: int, evaluate: str | None = None) -> None:
        self._info = info
        self._dimension = dimension
        self._offset = offset
        self._evaluate = evaluate
        self.indexed = info.sizes[dimension] if prod(info.sizes) else 0

    def indexed_items(self, start: int, stop: int) -> Iterator[Item]:
        """By their number."""
        return map(self.item, range(start, stop))

    def item(self, index: int) -> Item:
        """One element or row."""
        info, following = self._info, self._dimension + 1
        offset = self._offset + index * info.strides[self._dimension]
        address = f"{info.data + offset * BY_NAME[info.dtype].size:#x}"
        evaluate = f"{self._evaluate}[{index}]" if self._evaluate else None
        read = element_reader(torch_process.read, info)
        if following == len(info.sizes):
            text = number(read(offset), 8)
            return Item(Variable(f"[{index}]", text, info.dtype, memory=address, evaluate=evaluate))
        sizes, strides = info.sizes[following:], info.strides[following:]
        text = elements_line(lambda further: read(offset + further), sizes, strides)
        kind = f"{info.dtype} {list(sizes)}"
        rows = Rows(info, following, offset, evaluate)
        return Item(Variable(f"[{index}]", text, kind, memory=address, evaluate=evaluate), rows)

    def assign(self, name: str, value: str) -> Item:
        """Write one element."""
        index = int(name.strip("[]")) if re.fullmatch(r"\[\d+\]", name) else -1
        if not 0 <= index < self.indexed or self._dimension + 1 != len(self._info.sizes):
            raise HarnessError(f"{name} of this tensor cannot be set.", "Open it down to a single element.")
        write_element(self._info, self._offset + index * self._info.strides[self._dimension], value)
        return self.item(index)
