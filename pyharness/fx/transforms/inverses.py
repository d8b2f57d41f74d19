"""The inverses that ship: trigonometry, exponentials, roots, powers, activations, and arithmetic with constants."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch.fx import Proxy

from pyharness.fx.transforms.invertible import inverse

if TYPE_CHECKING:
    from collections.abc import Callable

_ALL = "all x"
_UNARY: tuple[tuple[str, Callable[..., Any], str], ...] = (
    ("sin", torch.asin, "-pi/2 <= x <= pi/2"),
    ("cos", torch.acos, "0 <= x <= pi"),
    ("tan", torch.atan, "-pi/2 < x < pi/2"),
    ("asin", torch.sin, "-1 <= x <= 1"),
    ("acos", torch.cos, "-1 <= x <= 1"),
    ("atan", torch.tan, _ALL),
    ("arcsin", torch.sin, "-1 <= x <= 1"),
    ("arccos", torch.cos, "-1 <= x <= 1"),
    ("arctan", torch.tan, _ALL),
    ("sinh", torch.asinh, _ALL),
    ("cosh", torch.acosh, "x >= 0"),
    ("tanh", torch.atanh, _ALL),
    ("asinh", torch.sinh, _ALL),
    ("acosh", torch.cosh, "x >= 1"),
    ("atanh", torch.tanh, "-1 < x < 1"),
    ("arcsinh", torch.sinh, _ALL),
    ("arccosh", torch.cosh, "x >= 1"),
    ("arctanh", torch.tanh, "-1 < x < 1"),
    ("exp", torch.log, _ALL),
    ("exp2", torch.log2, _ALL),
    ("expm1", torch.log1p, _ALL),
    ("log", torch.exp, "x > 0"),
    ("log2", torch.exp2, "x > 0"),
    ("log10", lambda y: torch.pow(10.0, y), "x > 0"),
    ("log1p", torch.expm1, "x > -1"),
    ("sqrt", torch.square, "x >= 0"),
    ("rsqrt", lambda y: torch.pow(y, -2.0), "x > 0"),
    ("square", torch.sqrt, "x >= 0"),
    ("reciprocal", torch.reciprocal, "x != 0"),
    ("neg", torch.neg, _ALL),
    ("negative", torch.neg, _ALL),
    ("positive", lambda y: y, _ALL),
    ("clone", lambda y: y, _ALL),
    ("sigmoid", torch.logit, _ALL),
    ("expit", torch.logit, _ALL),
    ("erf", torch.erfinv, _ALL),
    ("erfinv", torch.erf, "-1 < x < 1"),
    ("log_sigmoid", lambda y: y - torch.log(-torch.expm1(y)), _ALL),
    ("softsign", lambda y: y / (1 - torch.abs(y)), _ALL),
)
_MORE_FORMS: dict[str, tuple[Callable[..., Any], ...]] = {
    "neg": (operator.neg,),
    "positive": (operator.pos,),
    "log_sigmoid": (torch.nn.functional.logsigmoid,),
}


def _register(name: str, build: Callable[..., Any], domain: str) -> None:
    @inverse(name, *_MORE_FORMS.get(name, ()), domain=domain)
    def undo(y: Any) -> Any:
        return build(y)


for _entry in _UNARY:
    _register(*_entry)


@inverse("logit", domain="0 < x < 1")
def _(y: Any, eps: float | None = None) -> Any:
    if eps is not None:
        raise ValueError("it clamps to eps")
    return torch.sigmoid(y)


@inverse("leaky_relu", domain="all x, for a slope above 0")
def _(y: Any, negative_slope: float = 0.01, *_inplace: bool, inplace: bool = False) -> Any:
    del inplace
    if negative_slope <= 0:
        raise ValueError(f"its slope is {negative_slope}")
    return torch.where(y > 0, y, y / negative_slope)


@inverse("elu", domain="all x, for alpha above 0")
def _(y: Any, alpha: float = 1.0, *_inplace: bool, inplace: bool = False) -> Any:
    del inplace
    if alpha <= 0:
        raise ValueError(f"its alpha is {alpha}")
    return torch.where(y > 0, y, torch.log1p(y / alpha))


@inverse("softplus", domain="all x, for beta above 0; where torch's threshold cuts in, off by at most exp(-threshold)")
def _(y: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    del threshold
    if beta <= 0:
        raise ValueError(f"its beta is {beta}")
    return y + torch.log(-torch.expm1(-beta * y)) / beta


# --- with a constant --------------------------------------------------------------------------------------------------


@inverse("add", operator.add, operator.iadd, domain=_ALL)
def _(y: Any, other: Any, *, alpha: float = 1) -> Any:
    return y - _times(other, alpha)


@inverse("add", operator.add, unknown=1, domain=_ALL)
def _(y: Any, other: Any, *, alpha: float = 1) -> Any:
    return _over(y - other, alpha)


@inverse("sub", "subtract", operator.sub, operator.isub, domain=_ALL)
def _(y: Any, other: Any, *, alpha: float = 1) -> Any:
    return y + _times(other, alpha)


@inverse("sub", "subtract", operator.sub, unknown=1, domain=_ALL)
def _(y: Any, other: Any, *, alpha: float = 1) -> Any:
    return _over(other - y, alpha)


@inverse("rsub", domain=_ALL)
def _(y: Any, other: Any, *, alpha: float = 1) -> Any:
    return _over(other - y, alpha)


@inverse("rsub", unknown=1, domain=_ALL)
def _(y: Any, other: Any, *, alpha: float = 1) -> Any:
    return y + _times(other, alpha)


@inverse("mul", "multiply", operator.mul, operator.imul, domain="all x, for a factor that is not 0")
def _(y: Any, other: Any) -> Any:
    return y / _not_zero(other)


@inverse("mul", "multiply", operator.mul, unknown=1, domain="all x, for a factor that is not 0")
def _(y: Any, other: Any) -> Any:
    return y / _not_zero(other)


@inverse(
    "div", "divide", "true_divide", operator.truediv, operator.itruediv, domain="all x, for a divisor that is not 0"
)
def _(y: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    if rounding_mode is not None:
        raise ValueError(f"it rounds ({rounding_mode})")
    return y * _not_zero(other)


@inverse("div", "divide", "true_divide", operator.truediv, unknown=1, domain="x != 0, for a numerator that is not 0")
def _(y: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    if rounding_mode is not None:
        raise ValueError(f"it rounds ({rounding_mode})")
    return _not_zero(other) / y


@inverse("pow", operator.pow, operator.ipow, domain="all x for an odd whole exponent (x != 0 below 0), else x >= 0")
def _(y: Any, exponent: Any) -> Any:
    if not isinstance(exponent, int | float):
        return torch.pow(y, 1 / exponent)
    root = 1 / _not_zero(exponent)
    return torch.sign(y) * torch.pow(torch.abs(y), root) if exponent % 2 == 1 else torch.pow(y, root)


@inverse("pow", operator.pow, unknown=1, domain="all x, for a base above 0 that is not 1")
def _(y: Any, base: Any) -> Any:
    if not isinstance(base, int | float):
        return torch.log(y) / torch.log(base)
    if not (base > 0 and base != 1):
        raise ValueError(f"its base is {base}")
    return torch.log(y) / math.log(base)


def _times(other: Any, alpha: float) -> Any:
    return other if alpha == 1 else other * alpha


def _over(value: Any, alpha: float) -> Any:
    return value if alpha == 1 else value / _not_zero(alpha)


def _not_zero(other: Any) -> Any:
    value = other
    if isinstance(other, Proxy) and other.node.op == "get_attr":
        value = operator.attrgetter(str(other.node.target))(cast("Any", other.tracer).root)
    is_data = type(value) in {Tensor, nn.Parameter} and not value.is_meta
    if (isinstance(value, int | float | complex) and value == 0) or (is_data and bool((value == 0).any())):
        raise ValueError("its constant is 0" if value is other else f"its constant {other.node.target} has a 0")
    return other
