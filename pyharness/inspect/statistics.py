"""What a tensor's elements are like, in a few numbers, computed where the tensor lies."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from pyharness.model.tensors.text import number

_CHUNK = 1 << 22
"""Elements that are widened at a time, where the arithmetic needs a wider type."""


@dataclass(frozen=True)
class TensorStatistics:
    """Mean to norm are of the finite elements, ``None`` where there is none.

    Of complex tensors real and imaginary parts count, each for itself; of sparse ones the values that are stored.
    """

    dtype: str
    """Without ``torch.``, as in ``float32``."""
    shape: tuple[int, ...]
    device: str
    count: int
    """Elements."""
    nan: int = 0
    positive_infinity: int = 0
    negative_infinity: int = 0
    zeros: int = 0
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    std: float | None = None
    """With Bessel's correction, as ``torch.std``; ``None`` below two finite elements."""
    norm: float | None = None
    """Euclidean norm."""
    why_not: str = ""
    """Why there are no numbers, where there are none."""

    @property
    def zero_fraction(self) -> float:
        """Zeros in proportion to all elements."""
        return self.zeros / self.count if self.count else 0.0

    @property
    def infinite(self) -> int:
        """Infinities of both signs."""
        return self.positive_infinity + self.negative_infinity

    def __str__(self) -> str:
        """On one line."""
        if self.why_not:
            return f"{self.dtype} {list(self.shape)} ({self.why_not})"
        values = {"mean": self.mean, "std": self.std, "min": self.minimum, "max": self.maximum, "norm": self.norm}
        shown = [f"{name} {number(value)}" for name, value in values.items() if value is not None]
        shown += [f"{count:,} {name}" for name, count in (("NaN", self.nan), ("Inf", self.infinite)) if count]
        return f"{self.dtype} {list(self.shape)}: {', '.join([*shown, f'zeros {self.zero_fraction:.1%}'])}"

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {**asdict(self), "shape": list(self.shape), "zero_fraction": self.zero_fraction}


def statistics_of(tensor: Tensor) -> TensorStatistics:
    """The statistics of one tensor. Waits for its device once; copies the tensor only if it has NaN or Inf."""
    known = str(tensor.dtype).removeprefix("torch."), _shape(tensor), str(tensor.device)
    why = _why_not(tensor)
    if why:
        return TensorStatistics(*known, count=math.prod(known[1]), why_not=why)
    with torch.no_grad():
        values = _real_values(tensor.detach())
        total = _Sum()
        step = _CHUNK if _widened(values) is not values.dtype else max(1, values.numel())
        for start in range(0, values.numel(), step):
            total.add(values[start : start + step].to(_widened(values)))
    return total.told(*known)


class _Sum:
    """Counts and moments of one part after the other."""

    def __init__(self) -> None:
        self._count = self._finite = self._nan = self._above = self._below = self._zeros = 0
        self._low, self._high = math.inf, -math.inf
        self._mean = self._squares = 0.0

    def add(self, part: Tensor) -> None:
        numbers = _moments(part)
        self._count += part.numel()
        self._zeros += part.numel() - int(numbers[4])
        if not all(map(math.isfinite, numbers[:2])):
            self._nan += int(part.isnan().sum())
            self._above += int(part.isposinf().sum())
            self._below += int(part.isneginf().sum())
            part = part[part.isfinite()]
            if not part.numel():
                return
            numbers = _moments(part)
        if not math.isfinite(numbers[2]) and part.dtype == torch.float32:  # the squares leave its range
            numbers = _moments(part.double())
        self._merge(part.numel(), *numbers[:4])

    def _merge(self, count: int, low: float, high: float, variance: float, mean: float) -> None:
        """Chan, Golub and LeVeque's pairwise update of mean and squared distances."""
        self._low, self._high = min(self._low, low), max(self._high, high)
        away, before = mean - self._mean, self._finite
        self._finite += count
        self._mean += away * count / self._finite
        self._squares += variance * count + away * away * count * before / self._finite

    def told(self, dtype: str, shape: tuple[int, ...], device: str) -> TensorStatistics:
        finite = self._finite
        return TensorStatistics(
            dtype=dtype,
            shape=shape,
            device=device,
            count=self._count,
            nan=self._nan,
            positive_infinity=self._above,
            negative_infinity=self._below,
            zeros=self._zeros,
            minimum=self._low if finite else None,
            maximum=self._high if finite else None,
            mean=self._mean if finite else None,
            std=math.sqrt(self._squares / (finite - 1)) if finite > 1 else None,
            norm=math.sqrt(self._squares + finite * self._mean * self._mean) if finite else None,
        )


def _moments(part: Tensor) -> list[float]:
    """Minimum, maximum, variance (no correction), mean, and how many are not zero, brought here in one go."""
    low, high = part.aminmax()
    variance, mean = torch.var_mean(part, correction=0)
    wide = torch.float64 if part.device.type != "mps" else torch.float32
    numbers: list[float] = torch.stack(
        [each.to(wide) for each in (low, high, variance, mean, part.count_nonzero())]
    ).tolist()
    return numbers


def _widened(values: Tensor) -> torch.dtype:
    if values.dtype in {torch.float32, torch.float64}:
        return values.dtype
    return torch.float32 if values.is_floating_point() or values.device.type == "mps" else torch.float64


def _real_values(tensor: Tensor) -> Tensor:
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.layout == torch.sparse_coo:
        tensor = tensor.coalesce().values()
    elif tensor.layout != torch.strided:
        tensor = tensor.values()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return tensor.reshape(-1)


def _shape(tensor: Tensor) -> tuple[int, ...]:
    try:
        return tuple(int(size) for size in tensor.shape)
    except RuntimeError:  # nested, or of symbols
        return (tensor.numel(),)


def _why_not(tensor: Tensor) -> str:
    if tensor.is_meta:
        return "a meta tensor has no elements"
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):  # noqa: SLF001  (the only way to ask)
        return "inside of torch.func: no elements to look at"
    if tensor.is_nested and tensor.layout == torch.strided:
        return "a nested tensor"
    if type(tensor).__name__ == "FakeTensor":
        return "a fake tensor has no elements"
    return ""
