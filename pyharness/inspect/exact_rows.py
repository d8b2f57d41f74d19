"""‖J‖²_F by every row of J: unit vectors, as many at a time as there is room for."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from pyharness.inspect.unused import why_no_gradient
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

    from pyharness.inspect.batched_products import Products
    from pyharness.inspect.variables import Variable

_TOLERANCE = 1e-3
"""Of a gradient's size, within which a sample counts as not influenced by another."""
_GOLDEN = 0.6180339887498949
"""Its multiples modulo 1 lie far apart: so do the weights that samples are told apart by."""


def norm(products: Products, outputs: Sequence[Variable], batch: int | None) -> tuple[Tensor, Tensor | None]:
    """‖J‖²_F, 0-dim, and of each sample, (batch,), where samples are said to be independent."""
    total: Tensor | None = None
    used: set[int] = set()
    for output in outputs:
        for start, stop in _parts(output.numbers // (batch or 1), products.chunk):
            check = batch is not None and start == 0 and batch > 1
            vectors = _unit_vectors(output, start, stop, batch)
            if check:
                vectors, mixed, amounts = _with_mixture(vectors)
            rows = products.rows([output], [vectors])
            used |= {number for number, row in enumerate(rows) if row is not None}
            if check:
                rows = [None if row is None else _independent(row, mixed, amounts, output) for row in rows]
            part = squares(rows, batch).sum(0)
            total = part if total is None else total + part
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


def _unit_vectors(output: Variable, start: int, stop: int, batch: int | None) -> Tensor:
    """(stop - start, *shape): rows of the identity; for independent samples the same for each of them."""
    tensor = output.tensor
    shape = tensor.shape[1:] if batch else tensor.shape
    real = tensor.real.dtype if tensor.is_complex() else tensor.dtype
    rows = torch.zeros(stop - start, output.numbers // (batch or 1), dtype=real, device=tensor.device)
    rows.diagonal(start).fill_(1)
    vectors: Tensor = (
        torch.view_as_complex(rows.reshape(-1, *shape, 2)) if tensor.is_complex() else rows.reshape(-1, *shape)
    )
    return vectors[:, None].expand(-1, batch, *shape) if batch else vectors


def _with_mixture(vectors: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """One more, a mixture of the others in other amounts for each sample; the weights of the others, and of samples."""
    count, samples = vectors.shape[:2]
    mixed, amounts = (_weights(each).to(vectors.device, vectors.dtype) for each in (count, samples))
    one = torch.mv(vectors[:, 0].reshape(count, -1).T, mixed).reshape(vectors.shape[2:])  # they are alike for all
    amounts = amounts.reshape(-1, *[1] * one.dim())
    return torch.cat([vectors, (one * amounts)[None]]), mixed, amounts


@lru_cache(maxsize=8)
def _weights(count: int) -> Tensor:
    return torch.cos(2 * math.pi * _GOLDEN * torch.arange(count, dtype=torch.float64, device="cpu"))


def _independent(rows: Tensor, mixed: Tensor, amounts: Tensor, output: Variable) -> Tensor:
    """The rows without the one more; ``UsageError`` where that is not the mixture of the others."""
    rows, last = rows[:-1], rows[-1].detach()
    mixed, amounts = mixed.to(rows.dtype), amounts.to(rows.dtype).reshape(-1, *[1] * (last.dim() - 1))
    expected = torch.mv(rows.detach().reshape(len(rows), -1).T, mixed).reshape(last.shape) * amounts
    tolerance = max(_TOLERANCE, 30 * torch.finfo(last.dtype).eps)
    size, difference = torch.linalg.vector_norm(expected), torch.linalg.vector_norm(expected - last)
    if difference > tolerance * size:
        raise UsageError(
            f"The samples of {output.name} influence one another (batch norm in training?): per_sample does not hold.",
            "model.eval(), or leave per_sample out: J is then of all outputs by all inputs.",
        )
    return rows
