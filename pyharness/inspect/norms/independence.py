"""Whether the samples of a batch leave one another alone, as ``per_sample`` says: by one more product."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import torch

from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from pyharness.inspect.norms.batched_products import Products
    from pyharness.inspect.norms.linear_head import UnitVectors

_TOLERANCE = 1e-3
"""The part of a gradient's size within which a sample counts as not influenced by another."""
_GOLDEN = 0.6180339887498949
"""The golden ratio, whose multiples modulo 1 lie far apart: so do the weights that tell samples apart."""


class Independence:
    """A check that samples are independent: one mixture of all rows, in another amount for each sample.

    A sample's gradient of it is the mixture of its rows, in that amount, where no other sample has a part in it.
    """

    def __init__(self, units: UnitVectors) -> None:
        self._units = units
        self._weights, self._amounts = _spread(units.count), _spread(units.batch or 1)
        self._seen = 0
        self._mixed: list[Tensor | None] = []

    def add(self, rows: Sequence[Tensor | None]) -> None:
        """The next rows, (k, batch, *shape) of each input."""
        count = max((len(row) for row in rows if row is not None), default=0)
        weights = self._weights[self._seen : self._seen + count]
        self._seen += count
        self._mixed = self._mixed or [None] * len(rows)
        for number, row in enumerate(rows):
            if row is not None:
                self._mixed[number] = _added(self._mixed[number], row.detach(), weights)

    def check(self, products: Products) -> None:
        """Run the product; ``UsageError`` where it is not that."""
        vector = self._units.mixture(self._weights, self._amounts)
        for rows in products.run([self._units.start], [vector]):
            for row, mixed in zip(rows, self._mixed, strict=True):
                if row is not None and mixed is not None:
                    self._compare(row[0].detach(), mixed)

    def _compare(self, found: Tensor, mixed: Tensor) -> None:
        amounts = self._amounts.to(mixed.device, mixed.dtype).reshape(-1, *[1] * (mixed.dim() - 1))
        expected = mixed * amounts
        tolerance = max(_TOLERANCE, 30 * torch.finfo(found.dtype).eps)
        if torch.linalg.vector_norm(expected - found) > tolerance * torch.linalg.vector_norm(expected):
            raise UsageError(
                f"The samples of {self._units.start.name} influence one another (batch norm in training?): "
                "per_sample does not hold.",
                "model.eval(), or leave per_sample out: J is then of all outputs by all inputs.",
            )


def _added(total: Tensor | None, rows: Tensor, weights: Tensor) -> Tensor:
    """``total`` and the rows in their weights."""
    if len(rows) == 1 and total is not None:
        return total.add_(rows[0], alpha=float(weights[0]))
    part = torch.mv(rows.reshape(len(rows), -1).T, weights.to(rows.device, rows.dtype)).reshape(rows.shape[1:])
    return part if total is None else total.add_(part)


@lru_cache(maxsize=8)
def _spread(count: int) -> Tensor:
    return torch.cos(2 * math.pi * _GOLDEN * torch.arange(count, dtype=torch.float64, device="cpu"))
