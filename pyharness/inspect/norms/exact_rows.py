"""‖J‖²_F by every row of J: unit vectors, as many at a time as there is room for."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from pyharness.inspect.norms.independence import Independence
from pyharness.inspect.norms.unused import why_no_gradient
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

    from pyharness.inspect.norms.batched_products import Products
    from pyharness.inspect.variables import Variable


_ROOM = 64
"""Rows whose lengths wait to be summed."""


def norm(products: Products, outputs: Sequence[Variable], batch: int | None) -> tuple[Tensor, Tensor | None]:
    """‖J‖²_F, 0-dim, and of each sample, (batch,), where samples are said to be independent."""
    found = _SumOfSquares(batch, max(products.chunk, _ROOM))
    used: set[int] = set()
    for output in outputs:
        units = products.unit_vectors(output, batch)
        independence = Independence(units) if batch is not None and not products.keeps_apart(output, batch) else None
        for start, stop in _parts(units.count, products.chunk):
            for rows in products.run([units.start], [units.rows(start, stop)]):
                used |= {number for number, row in enumerate(rows) if row is not None}
                if independence:
                    independence.add(rows)
                found.add(rows)
        if independence:
            independence.check(products)
    tell_unused(products, outputs, used)
    total = found.total()
    return (total, None) if batch is None else (total.sum(), total)


class _SumOfSquares:
    """Over rows of J, (batch,) or 0-dim.

    Their lengths are written to a buffer until it is full. A small tensor for each, among the large ones of the
    backward passes, would keep those from being made at the same addresses, in the processor's cache, every time.
    """

    def __init__(self, batch: int | None, room: int) -> None:
        self._batch = batch
        self._room = room
        self._buffers: dict[tuple[torch.device, torch.dtype], tuple[Tensor, int]] = {}
        self._total: Tensor | None = None

    def add(self, rows: Sequence[Tensor | None]) -> None:
        """Rows (k, *shape) of each input."""
        for row in rows:
            if row is not None and row.requires_grad:  # a length has no derivative at zero
                self._sum(_squares(row, self._batch))
            elif row is not None:
                self._keep(_flat(row, self._batch))

    def total(self) -> Tensor:
        """float64."""
        for lengths, filled in self._buffers.values():
            self._sum(lengths[:filled].to(torch.float64).square())
        self._buffers.clear()
        assert self._total is not None  # noqa: S101  (there is an output, with a number in it)
        return self._total

    def _keep(self, flat: Tensor) -> None:
        count, wide = len(flat), _wide(flat)
        key = flat.device, wide
        lengths, filled = self._buffers.get(key) or (flat.new_empty(self._room, *flat.shape[1:-1], dtype=wide), 0)
        if filled + count > len(lengths):
            self._sum(lengths[:filled].to(torch.float64).square())
            filled = 0
        torch.linalg.vector_norm(flat, dim=-1, dtype=wide, out=lengths[filled : filled + count])
        self._buffers[key] = lengths, filled + count

    def _sum(self, squares: Tensor) -> None:
        part = squares.sum(0)
        self._total = part if self._total is None else self._total + part


def squares(rows: Sequence[Tensor | None], batch: int | None) -> Tensor:
    """The sums of squares of rows (k, *shape) of each input: (k,), or (k, batch); float64."""
    found = [_squares(row, batch) for row in rows if row is not None]
    if len(found) == 1:
        return found[0]
    return torch.stack(found).sum(0) if found else torch.zeros((1, batch) if batch else (1,), dtype=torch.float64)


def _squares(row: Tensor, batch: int | None) -> Tensor:
    flat = _flat(row, batch)
    if row.requires_grad:
        return flat.to(_wide(flat)).square().sum(-1).to(torch.float64)
    lengths: Tensor = torch.linalg.vector_norm(flat, dim=-1, dtype=_wide(flat))
    return lengths.to(torch.float64).square()


def _flat(row: Tensor, batch: int | None) -> Tensor:
    if row.is_complex():
        row = torch.view_as_real(row)
    return row.reshape(len(row), *([batch] if batch else []), -1)


def _wide(row: Tensor) -> torch.dtype:
    return torch.float64 if row.dtype == torch.float64 else torch.float32


def tell_unused(products: Products, outputs: Sequence[Variable], used: set[int]) -> None:
    """Note the inputs whose columns of J are zero because no output reaches them; an error where that is all."""
    unused = [each for number, each in enumerate(products.inputs) if number not in used]
    reasons = [f"{each.name} {why_no_gradient(each, outputs)}." for each in unused]
    if not used:
        raise UsageError("\n".join(reasons), "J would be zero everywhere.")
    products.notes.extend(f"Zero columns: {reason}" for reason in reasons)


def _parts(count: int, chunk: int) -> Iterator[tuple[int, int]]:
    """Bounds of parts of about the same size."""
    parts = math.ceil(count / chunk)
    bounds = [round(part * count / parts) for part in range(parts + 1)]
    return pairwise(bounds)
