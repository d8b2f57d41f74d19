"""Minimum, maximum, mean, deviation and the count of NaN and Inf of elements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.model.tensors.dtypes import Number

DEFAULT_LIMIT = 1 << 22
"""Elements: about two seconds of Python."""


@dataclass
class Statistics:
    """Statistics of ``counted`` elements; minimum to deviation are of the finite ones among them."""

    counted: int = 0
    total: int = 0
    nan: int = 0
    positive_infinity: int = 0
    negative_infinity: int = 0
    finite: int = 0
    minimum: float | None = None
    """``None`` for complex tensors and where no element is finite."""
    maximum: float | None = None
    mean: complex | None = None
    squares: float = 0.0
    """Sum of squared distances from the mean."""

    @property
    def deviation(self) -> float | None:
        """Standard deviation with Bessel's correction, as ``torch.std``; ``None`` below two finite elements."""
        return math.sqrt(self.squares / (self.finite - 1)) if self.finite > 1 else None

    @property
    def infinite(self) -> int:
        """Infinities of both signs; of complex elements, those with an infinite part."""
        return self.positive_infinity + self.negative_infinity

    def add(self, elements: list[Number]) -> None:
        """Count some elements."""
        self.counted += len(elements)
        if elements and isinstance(elements[0], complex):
            self._add_complex([complex(value) for value in elements])
        else:
            self._add_real([value.real for value in elements])

    def _add_real(self, elements: list[float]) -> None:
        finite = [value for value in elements if math.isfinite(value)]
        if len(finite) < len(elements):
            self.positive_infinity += elements.count(math.inf)
            self.negative_infinity += elements.count(-math.inf)
            self.nan += sum(map(math.isnan, elements))
        if finite:
            low, high = min(finite), max(finite)
            self.minimum = low if self.minimum is None else min(self.minimum, low)
            self.maximum = high if self.maximum is None else max(self.maximum, high)
            mean = _sum(finite) / len(finite)
            self._merge(len(finite), mean, _sum([(value - mean) * (value - mean) for value in finite]))

    def _add_complex(self, elements: list[complex]) -> None:
        finite = [value for value in elements if math.isfinite(value.real) and math.isfinite(value.imag)]
        nan = sum(math.isnan(value.real) or math.isnan(value.imag) for value in elements)
        self.nan += nan
        self.positive_infinity += len(elements) - len(finite) - nan
        if finite:
            mean = complex(_sum([v.real for v in finite]), _sum([v.imag for v in finite])) / len(finite)
            self._merge(len(finite), mean, _sum([_square(value - mean) for value in finite]))

    def _merge(self, count: int, mean: complex, squares: float) -> None:
        """Two groups' means and sums of squares as one (Chan, Golub and LeVeque's pairwise update)."""
        before = self.mean or 0.0
        self.finite += count
        away = mean - before
        self.mean = before + away * count / self.finite
        others = self.finite - count
        self.squares += squares + (_square(away) * count * others / self.finite if others else 0.0)


def _square(value: complex) -> float:
    return value.real * value.real + value.imag * value.imag


def _sum(numbers: list[float]) -> float:
    """The exact sum; infinite where it leaves the range of float64."""
    try:
        return math.fsum(numbers)
    except OverflowError:
        return sum(numbers)
