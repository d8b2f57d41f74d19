"""‖J‖²_F estimated: the mean of ‖vᵀJ‖² over random v, with its standard error, until that is small enough."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from pyharness.inspect.norms.exact_rows import squares, tell_unused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from pyharness.inspect.norms.batched_products import Products
    from pyharness.inspect.variables import Variable

_FIRST = 32
"""Probes before an error is believed: below, it is itself too uncertain to stop by."""


@dataclass(frozen=True)
class Stop:
    """When there are enough probes."""

    probes: int
    rtol: float | None

    def next(self, done: int, mean: float, error: float | None) -> int:
        """How many more to take."""
        if self.rtol is None:
            return self.probes - done
        left = self.probes - done
        if done == 0 or error is None or not math.isfinite(error):
            return min(left, _FIRST)
        if error <= self.rtol * abs(mean):
            return 0
        wanted = done * (error / (self.rtol * abs(mean))) ** 2 if mean else math.inf
        return min(left, max(math.ceil(min(wanted, 2 * done)) - done, done // 8))


@dataclass(frozen=True)
class Draw:
    """Where random vectors come from."""

    distribution: str
    generator: torch.Generator | None

    def vectors(self, count: int, output: Variable) -> Tensor:
        """(count, *shape), independent elements of mean 0 and variance 1; of complex ones, both parts."""
        tensor = output.tensor
        real = tensor.real.dtype if tensor.is_complex() else tensor.dtype
        shape = (count, *tensor.shape, 2) if tensor.is_complex() else (count, *tensor.shape)
        made = torch.empty(shape, dtype=real, device=tensor.device)
        if self.distribution == "gaussian":
            made.normal_(generator=self.generator)
        else:
            made.bernoulli_(0.5, generator=self.generator).mul_(2).sub_(1)
        return torch.view_as_complex(made) if tensor.is_complex() else made


@dataclass(frozen=True)
class Estimate:
    """The mean of what the probes gave."""

    squared: Tensor
    per_sample: Tensor | None
    probes: int
    standard_error: float | None


def estimate(products: Products, outputs: Sequence[Variable], draw: Draw, stop: Stop, batch: int | None) -> Estimate:
    """Take probes until ``stop`` is content."""
    sampled: list[Tensor] = []
    used: set[int] = set()
    done, mean, error = 0, 0.0, None
    while more := stop.next(done, mean, error):
        for start in range(0, more, products.chunk):
            count = min(products.chunk, more - start)
            for rows in products.run(outputs, [draw.vectors(count, each) for each in outputs]):
                used |= {number for number, row in enumerate(rows) if row is not None}
                if not sampled:
                    tell_unused(products, outputs, used)
                sampled.append(squares(rows, batch))
        done += more
        values = torch.cat([each.detach() if batch is None else each.detach().sum(1) for each in sampled])
        mean, error = float(values.mean()), _standard_error(values)
    every = torch.cat(sampled)
    of_samples = every.mean(0) if batch else None
    squared = every.mean() if of_samples is None else of_samples.sum()
    return Estimate(squared, of_samples, done, error)


def _standard_error(values: Tensor) -> float | None:
    return float(values.std()) / math.sqrt(len(values)) if len(values) > 1 else None
