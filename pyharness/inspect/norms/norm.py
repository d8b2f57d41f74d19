"""The squared Frobenius norm of a Jacobian: the number, how it was found, and how far off it may be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from pyharness.model.tensors.text import number
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor


@dataclass(frozen=True, eq=False)
class JacobianNorm:
    """‖J‖²_F, the sum of the squares of all ∂outputᵢ/∂inputⱼ. A complex number counts as two real ones."""

    squared: Tensor
    """0-dim, float64; on the graph where ``create_graph`` was asked for."""
    outputs: int
    """Rows of J."""
    inputs: int
    """Columns of J."""
    vjps: int
    """Vector-Jacobian products that it took."""
    chunk: int
    """How many of them at once."""
    per_sample: Tensor | None = None
    """(B,), float64: of each sample's own Jacobian, where samples were said to be independent."""
    probes: int = 0
    """Random vectors of an estimate; 0 where it is exact."""
    standard_error: float | None = None
    """The standard error of ``squared``; ``None`` where it is exact or one probe was too few to tell."""
    notes: tuple[str, ...] = ()
    """What should be known of how it was found."""

    @property
    def norm(self) -> float:
        """‖J‖_F."""
        return math.sqrt(max(0.0, float(self)))

    @property
    def exact(self) -> bool:
        """Whether every row of J was looked at."""
        return self.probes == 0

    def __float__(self) -> float:
        return float(self.squared.detach())

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Bounds that hold the true ‖J‖²_F with this confidence: Student's t around the mean of the probes.

        The number itself, twice, where it is exact; from 0 to infinity where one probe cannot tell.
        """
        if self.exact:
            return float(self), float(self)
        if self.standard_error is None:
            return 0.0, math.inf
        reach = student_t(0.5 + confidence / 2, self.probes - 1) * self.standard_error
        return max(0.0, float(self) - reach), float(self) + reach

    def lines(self) -> Iterator[Line]:
        """The number, how it was found, and the notes."""
        if self.exact:
            yield Line(f"‖J‖²_F = {number(float(self), 6)}, exact", "heading")
        else:
            low, high = self.interval()
            yield Line(f"‖J‖²_F ≈ {number(float(self), 6)}, 95%: {number(low)} to {number(high)}", "heading")
        of = f"{self.probes:,} probes" if self.probes else f"{self.vjps:,} VJPs"
        yield Line(f"  J is {self.outputs:,} by {self.inputs:,}; {of}, {self.chunk:,} at once", "faint")
        for note in self.notes:
            yield Line(f"  {note}")

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.lines())

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            **vars(self),
            "squared": float(self),
            "norm": self.norm,
            "exact": self.exact,
            "interval": None if self.exact or self.standard_error is None else self.interval(),
            "per_sample": None if self.per_sample is None else self.per_sample.detach().tolist(),
        }


def student_t(probability: float, freedom: int) -> float:
    """Quantile of Student's t: exact for 1 and 2 degrees of freedom, else by its expansion in 1/freedom.

    Hill, "Algorithm 396: Student's t-quantiles", 1970, has the exact forms; the expansion is Abramowitz and Stegun
    26.7.5, off by less than 1% from 3 degrees of freedom on (at 0.975).
    """
    if freedom == 1:
        return math.tan(math.pi * (probability - 0.5))
    if freedom == 2:
        return (2 * probability - 1) / math.sqrt(2 * probability * (1 - probability))
    z = NormalDist().inv_cdf(probability)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / freedom + second / freedom**2 + third / freedom**3 + fourth / freedom**4
