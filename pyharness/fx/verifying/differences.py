"""Compares values leaf by leaf, with tolerances by dtype as ``torch.testing.assert_close`` has them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.testing._comparison import default_tolerances

from pyharness.model import given_numbers
from pyharness.model.results.verdict import Around, Difference, Sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyharness.fx.verifying.values import Leaf

_NEAR = 2
"""Elements shown on either side of the worst one."""


@dataclass(frozen=True)
class Tolerance:
    """How near is equal; ``None`` is what ``torch.testing`` takes for the dtype."""

    rtol: float | None = None
    atol: float | None = None
    equal_nan: bool = True
    dtypes: bool = True
    """Whether dtypes must be equal."""

    def __post_init__(self) -> None:
        given_numbers.tolerance("rtol", self.rtol)
        given_numbers.tolerance("atol", self.atol)

    def of(self, *dtypes: torch.dtype) -> tuple[float, float]:
        """``rtol`` and ``atol`` for values of these dtypes: the widest."""
        rtol, atol = default_tolerances(*dtypes)
        return rtol if self.rtol is None else self.rtol, atol if self.atol is None else self.atol


EXACT = Tolerance(0.0, 0.0)


def differences(expected: Sequence[Leaf], actual: Sequence[Leaf], tolerance: Tolerance) -> Iterator[Difference]:
    """What differs, leaf by leaf; where the nesting differs, that alone."""
    wanted, found = [leaf.path for leaf in expected], [leaf.path for leaf in actual]
    if wanted != found:
        yield Difference("", "structure", _nesting(wanted, found))
        return
    for (path, one), (_, other) in zip(expected, actual, strict=True):
        difference = _of_leaves(path, one, other, tolerance)
        if difference:
            yield difference


def agree(expected: Sequence[Leaf], actual: Sequence[Leaf], tolerance: Tolerance) -> bool:
    """Whether nothing differs: the same as ``differences``, without measuring what does."""
    if [leaf.path for leaf in expected] != [leaf.path for leaf in actual]:
        return False
    return all(_agree(one.value, other.value, tolerance) for one, other in zip(expected, actual, strict=True))


def _agree(one: Any, other: Any, tolerance: Tolerance) -> bool:
    if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
        return _of_leaves("", one, other, tolerance) is None
    if one.shape != other.shape or one.device != other.device or one.layout != other.layout:
        return False
    if tolerance.dtypes and one.dtype != other.dtype:
        return False
    near = tolerance.of(one.dtype, other.dtype)
    return one.is_meta or bool(_close(_dense(one), _dense(other), near, tolerance).all())


def is_same(one: Any, other: Any) -> bool:
    """Whether two leaves are equal to the last bit; NaN equals NaN."""
    if one is other:
        return True
    if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
        return _of_leaves("", one, other, EXACT) is None
    if one.dtype != other.dtype or one.shape != other.shape or one.device != other.device:
        return False
    one, other = _dense(one), _dense(other)
    return one.device.type == "meta" or torch.equal(one, other) or _of_tensors("", one, other, EXACT) is None


def _nesting(wanted: list[str], found: list[str]) -> str:
    if len(wanted) != len(found):
        return f"it holds {len(found)} values, not {len(wanted)}"
    one, other = next(pair for pair in zip(found, wanted, strict=True) if pair[0] != pair[1])
    return f"a value is at {one or 'the top'}, not at {other or 'the top'}"


def _of_leaves(path: str, one: Any, other: Any, tolerance: Tolerance) -> Difference | None:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return _of_tensors(path, one, other, tolerance)
    if isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor):
        return Difference(path, "structure", f"it is {_kind(other)}, not {_kind(one)}")
    numbers = all(isinstance(each, (int, float, complex)) and not isinstance(each, bool) for each in (one, other))
    if numbers and (isinstance(one, (float, complex)) or isinstance(other, (float, complex))):
        wide = [torch.tensor(each, dtype=torch.complex128) for each in (one, other)]
        return _of_values(path, wide[0], wide[1], tolerance.of(torch.float64), tolerance)
    return None if _equal(one, other) else Difference(path, "value", f"it is {_short(other)}, not {_short(one)}")


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.nn.Module) and isinstance(other, torch.nn.Module):
        return type(one) is type(other) or isinstance(one, torch.fx.GraphModule)
    try:
        return bool(one == other) or type(one) is type(other) is object
    except Exception:  # noqa: BLE001  (an __eq__ of the user's)
        return type(one) is type(other)


def _kind(value: Any) -> str:
    return f"a tensor of shape {list(value.shape)}" if isinstance(value, torch.Tensor) else _short(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _of_tensors(path: str, one: torch.Tensor, other: torch.Tensor, tolerance: Tolerance) -> Difference | None:
    """Shape first, then values, dtype and device: what comes first says most."""
    if one.shape != other.shape:
        return Difference(path, "shape", f"shape is {list(other.shape)}, not {list(one.shape)}")
    if tolerance.dtypes and one.dtype != other.dtype:
        found = _of_values(path, _dense(one), _dense(other), tolerance.of(one.dtype, other.dtype), tolerance)
        sizes, around = (found.sizes, found.around) if found else (None, None)
        return Difference(path, "dtype", f"dtype is {_name(other.dtype)}, not {_name(one.dtype)}", sizes, around)
    if one.device != other.device:
        return Difference(path, "device", f"it lies on {other.device}, not on {one.device}")
    if one.layout != other.layout:
        return Difference(path, "layout", f"layout is {_name(other.layout)}, not {_name(one.layout)}")
    if one.device.type == "meta":
        return None
    return _of_values(path, _dense(one), _dense(other), tolerance.of(one.dtype, other.dtype), tolerance)


def _of_values(
    path: str, one: torch.Tensor, other: torch.Tensor, near: tuple[float, float], tolerance: Tolerance
) -> Difference | None:
    close = _close(one, other, near, tolerance)
    return None if bool(close.all()) else measured(path, one, other, close, near)


def measured(
    path: str, one: torch.Tensor, other: torch.Tensor, close: torch.Tensor, near: tuple[float, float]
) -> Difference:
    """How far two tensors are apart, whose elements are near enough where ``close`` is true; some are not."""
    wide_one, wide_other = _wide(one), _wide(other)
    sizes = _sizes(wide_one, wide_other, close, near)
    message = f"{sizes.count:,} of {sizes.total:,} elements differ" if sizes.worst else "the number differs"
    if not sizes.worst:
        message = f"it is {_shown(wide_other)}, not {_shown(wide_one)}"
    return Difference(path, "value", message, sizes, _around(wide_one, wide_other, sizes.worst))


def _close(one: torch.Tensor, other: torch.Tensor, near: tuple[float, float], tolerance: Tolerance) -> torch.Tensor:
    """For each element whether it is near enough."""
    if near == (0.0, 0.0):
        if one.is_floating_point() or one.is_complex():
            one, other = _wide(one), _wide(other)
        same = one == other  # float64 does not hold every int64
        return same | (one.isnan() & other.isnan()) if tolerance.equal_nan else same
    return torch.isclose(_wide(other), _wide(one), rtol=near[0], atol=near[1], equal_nan=tolerance.equal_nan)


def _sizes(one: torch.Tensor, other: torch.Tensor, close: torch.Tensor, near: tuple[float, float]) -> Sizes:
    error = torch.where(close, 0.0, (other - one).abs())
    rank = error.nan_to_num(nan=math.inf, posinf=math.inf).reshape(-1)
    position = int(rank.argmax())
    relative = error / one.abs()
    return Sizes(
        count=int((~close).sum()),
        total=close.numel(),
        largest=float(error.reshape(-1)[position]),
        largest_relative=float(relative[~close].nan_to_num(nan=math.inf, posinf=math.inf).max()),
        worst=_index(position, one.shape),
        rtol=near[0],
        atol=near[1],
    )


def _index(position: int, shape: Sequence[int]) -> tuple[int, ...]:
    found = []
    for size in reversed(shape):
        position, index = divmod(position, size)
        found.append(index)
    return tuple(reversed(found))


def _around(one: torch.Tensor, other: torch.Tensor, worst: tuple[int, ...]) -> Around:
    if not worst:
        return Around((), (_shown(one),), (_shown(other),))
    row, last = worst[:-1], worst[-1]
    first = max(0, last - _NEAR)
    rows = [each[row][first : last + _NEAR + 1] for each in (one, other)]
    expected, actual = (tuple(_shown(element) for element in each) for each in rows)
    return Around((*row, first), expected, actual)


def _shown(element: torch.Tensor) -> complex:
    value: complex = element.item()
    return value.real if isinstance(value, complex) and not value.imag else value


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    """A strided tensor with the same elements."""
    tensor = tensor.detach()
    if tensor.is_nested:
        return torch.cat([each.reshape(-1) for each in tensor.unbind()])
    if tensor.is_quantized:
        return tensor.dequantize()
    return tensor if tensor.layout is torch.strided else tensor.to_dense()


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _name(thing: object) -> str:
    return str(thing).removeprefix("torch.")
