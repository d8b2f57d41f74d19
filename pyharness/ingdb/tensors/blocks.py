"""Reads all elements of a strided tensor in C order, block by block: for a sum, for a file."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Literal

from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.reading.process.memory import MAX_READ, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyharness.model.tensors.tensor import TensorInfo

    Read = Callable[[int, int], bytes]

_WINDOW = 64 << 20
"""Bytes of program memory, and of one block, held at a time."""
_FEW = 1 << 12
_UNITS: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}


def raw_blocks(read: Read, info: TensorInfo, sizes: Sequence[int] | None = None) -> Iterator[bytes]:
    """The stored bytes in C order, of all elements or of the leading ``sizes``; `UnreadableError` in a hole."""
    sizes = info.sizes if sizes is None else sizes
    if prod(sizes):
        yield from _Reader(read, BY_NAME[info.dtype].size).blocks(info.data, *_merged(sizes, info.strides))


class _Reader:
    def __init__(self, read: Read, width: int) -> None:
        self.read = read
        self.width = width

    def blocks(self, address: int, sizes: list[int], strides: list[int]) -> Iterator[bytes]:
        """A view, halved until the memory that it spans is small and holds little else."""
        count = prod(sizes)
        span = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
        if strides == [1]:
            yield from self._chunks(address, count * self.width)
        elif not strides[0]:
            yield from self._repeated(address, sizes, strides)
        elif max(span, count) * self.width <= _WINDOW and span <= 4 * count + _FEW:
            yield _gather(b"".join(self._chunks(address, span * self.width)), self.width, sizes, strides)
        elif len(sizes) > 1:
            yield from self._halves(address, sizes, strides)
        else:
            yield from self._scattered(address, sizes[0], strides[0])

    def _halves(self, address: int, sizes: list[int], strides: list[int]) -> Iterator[bytes]:
        if sizes[0] == 1:
            yield from self.blocks(address, sizes[1:], strides[1:])
            return
        half = sizes[0] // 2
        yield from self.blocks(address, [half, *sizes[1:]], strides)
        yield from self.blocks(address + half * strides[0] * self.width, [sizes[0] - half, *sizes[1:]], strides)

    def _chunks(self, address: int, size: int) -> Iterator[bytes]:
        memory = Memory(self.read)
        for start in range(0, size, MAX_READ):
            yield memory.read(address + start, min(MAX_READ, size - start))

    def _repeated(self, address: int, sizes: list[int], strides: list[int]) -> Iterator[bytes]:
        """An expanded dimension: the same elements again and again."""
        inner = (sizes[1:], strides[1:]) if len(sizes) > 1 else ([1], [1])
        size = prod(inner[0]) * self.width
        if size > _WINDOW:
            for _ in range(sizes[0]):
                yield from self.blocks(address, *inner)
            return
        once = b"".join(self.blocks(address, *inner))
        some = max(1, _WINDOW // size)
        for start in range(0, sizes[0], some):
            yield once * min(some, sizes[0] - start)

    def _scattered(self, address: int, count: int, stride: int) -> Iterator[bytes]:
        """Elements that lie far apart."""
        step = stride * self.width
        for start in range(0, count, _FEW):
            memory = Memory(self.read)  # its cache ends with the block
            places = range(address + start * step, address + min(start + _FEW, count) * step, step)
            yield b"".join(memory.read(place, self.width) for place in places)


def _merged(sizes: Sequence[int], strides: Sequence[int]) -> tuple[list[int], list[int]]:
    """Sizes and strides of the elements, in their order, with as few dimensions as possible."""
    merged: list[tuple[int, int]] = []
    for size, stride in zip(sizes, strides, strict=True):
        if size == 1:
            continue
        if merged and merged[-1][1] == size * stride:
            merged[-1] = (merged[-1][0] * size, stride)
        else:
            merged.append((size, stride))
    pairs = merged or [(1, 1)]
    return [size for size, _ in pairs], [stride for _, stride in pairs]


def _gather(window: bytes, width: int, sizes: list[int], strides: list[int]) -> bytes:
    """The elements of a strided view in C order; ``window`` starts at its first and holds its last."""
    outer = zip(sizes[:-1], strides[:-1], strict=True)
    starts = map(sum, product(*([index * stride for index in range(size)] for size, stride in outer)))
    count, stride = sizes[-1], strides[-1]
    if width not in _UNITS:
        places = (start + index * stride for start in starts for index in range(count))
        return b"".join(window[place * width : (place + 1) * width] for place in places)
    view = memoryview(window).cast(_UNITS[width])
    if not stride:
        return b"".join(view[start : start + 1].tobytes() * count for start in starts)
    return b"".join(view[start : start + (count - 1) * stride + 1 : stride].tobytes() for start in starts)
