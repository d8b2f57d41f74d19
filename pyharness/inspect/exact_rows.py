"""‖J‖²_F by every row of J: unit vectors, as many at a time as there is room for."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from pyharness.inspect.independence import Independence
from pyharness.inspect.unused import why_no_gradient
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

    from pyharness.inspect.batched_products import Products
    from pyharness.inspect.variables import Variable


def norm(products: Products, outputs: Sequence[Variable], batch: int | None) -> tuple[Tensor, Tensor | None]:
    """‖J‖²_F, 0-dim, and of each sample, (batch,), where samples are said to be independent."""
    total: Tensor | None = None
    used: set[int] = set()
    for output in outputs:
        units = products.unit_vectors(output, batch)
        independence = Independence(units) if batch is not None and not products.keeps_apart(output, batch) else None
        for start, stop in _parts(units.count, products.chunk):
            for rows in products.run([units.start], [units.rows(start, stop)]):
                used |= {number for number, row in enumerate(rows) if row is not None}
                if independence:
                    independence.add(rows)
                part = squares(rows, batch).sum(0)
                total = part if total is None else total + part
        if independence:
            independence.check(products)
    tell_unused(products, outputs, used)
    assert total is not None  # noqa: S101  (there is an output, with a number in it)
    return (total, None) if batch is None else (total.sum(), total)


def squares(rows: Sequence[Tensor | None], batch: int | None) -> Tensor:
    """Of rows (k, *shape) of each input the sums of squares: (k,), or (k, batch); float64."""
    found = [_squares(row, batch) for row in rows if row is not None]
    if len(found) == 1:
        return found[0]
    return torch.stack(found).sum(0) if found else torch.zeros((1, batch) if batch else (1,), dtype=torch.float64)


def _squares(row: Tensor, batch: int | None) -> Tensor:
    if row.is_complex():
        row = torch.view_as_real(row)
    wide = torch.float64 if row.dtype == torch.float64 else torch.float32
    flat = row.reshape(len(row), *([batch] if batch else []), -1)
    if flat.requires_grad:  # the norm has no derivative at zero
        return flat.to(wide).square().sum(-1).to(torch.float64)
    norms: Tensor = torch.linalg.vector_norm(flat, dim=-1, dtype=wide)
    return norms.to(torch.float64).square()


def tell_unused(products: Products, outputs: Sequence[Variable], used: set[int]) -> None:
    """Note the inputs whose columns of J are zero because no output reaches them; an error where that is all."""
    unused = [each for number, each in enumerate(products.inputs) if number not in used]
    reasons = [f"{each.name} {why_no_gradient(each, outputs)}." for each in unused]
    if not used:
        raise UsageError("\n".join(reasons), "J would be zero everywhere.")
    products.notes.extend(f"Zero columns: {reason}" for reason in reasons)


def _parts(count: int, chunk: int) -> Iterator[tuple[int, int]]:
    """Of about the same size each."""
    parts = math.ceil(count / chunk)
    bounds = [round(part * count / parts) for part in range(parts + 1)]
    return pairwise(bounds)
