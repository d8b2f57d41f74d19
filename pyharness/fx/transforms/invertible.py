"""Which functions can be inverted, and by what: an open table, one entry for each function and operand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._ops import OpOverload

from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from torch.fx import GraphModule, Node

_HOMES = (torch, torch.nn.functional, torch.special, torch.ops.aten)


@dataclass(frozen=True)
class Inverse:
    """How to get one operand of a function back from its value."""

    build: Callable[..., Any]
    """Called with the value and the call's other arguments; returns the operand."""
    domain: str
    """Operands for which it gives back the very operand, ``x`` standing for it."""


INVERSES: dict[tuple[Hashable, int], Inverse] = {}
"""By function (a function, a method's name, a class of modules) and position of the operand."""


def inverse(
    *forms: str | Callable[..., Any] | type[nn.Module], domain: str, unknown: int = 0
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register how to invert ``forms``: ``@inverse("sin", domain="-pi/2 <= x <= pi/2")``.

    The decorated function gets the value, then the call's arguments without the operand that is looked for (the
    operand's position is ``unknown``), and returns that operand in terms of ``torch`` functions and operators. It
    raises ``ValueError`` with a reason where these arguments allow no inverse.

    A name stands for the method, in place too (``sin_``), and for the functions of that name in ``torch``,
    ``torch.nn.functional``, ``torch.special`` and ``torch.ops.aten``; a class of modules is called with the value and
    the module. A second entry for the same form and operand fails.
    """

    def register(build: Callable[..., Any]) -> Callable[..., Any]:
        for form in forms:
            for key in _keys(form, in_place=unknown == 0):
                known = INVERSES.get((key, unknown))
                if known is not None and _home(known.build) != _home(build):
                    raise ValueError(f"there are two inverses of {key!r}, operand {unknown}")
                INVERSES[key, unknown] = Inverse(build, domain)
        return build

    return register


def inverse_of(node: Node, module: GraphModule, unknown: int) -> Inverse | None:
    """The inverse of ``node`` in its operand number ``unknown``."""
    target = node.target
    if node.op == "call_module":
        called = type(module.get_submodule(str(target)))
        found = (INVERSES.get((each, unknown)) for each in called.__mro__)
        return next((each for each in found if each is not None), None)
    return INVERSES.get((target.overloadpacket if isinstance(target, OpOverload) else target, unknown))


def has_inverse(called: nn.Module) -> bool:
    """Whether the class of ``called`` has an entry."""
    return any((each, 0) in INVERSES for each in type(called).__mro__)


def domains() -> list[tuple[str, int, str]]:
    """Name, operand and domain of every entry, each once, as the documentation lists them."""
    return sorted({(_name(key), unknown, each.domain) for (key, unknown), each in INVERSES.items()})


def _keys(form: Any, *, in_place: bool) -> Iterator[Hashable]:
    if not isinstance(form, str):
        if not callable(form):
            raise UsageError(
                f"{form!r} is not a function, a method's name or a class of modules.", "Give one of these."
            )
        yield form
        return
    for name in (form, f"{form}_") if in_place else (form,):
        yield name
        yield from (getattr(home, name) for home in _HOMES if callable(getattr(home, name, None)))


def _home(function: Any) -> tuple[str, int]:
    """Where it was written: a module that is loaded again registers the same ones again."""
    code = getattr(function, "__code__", None)
    return str(function.__module__), code.co_firstlineno if code else id(function)


def _name(key: Any) -> str:
    """One name for a function, its in-place form, its operator and its namesake in ``torch.special``."""
    name = (key if isinstance(key, str) else getattr(key, "__name__", str(key))).rstrip("_").removeprefix("special_")
    return _OPERATORS.get(name, name)


_OPERATORS = {
    "iadd": "add",
    "imul": "mul",
    "ipow": "pow",
    "isub": "sub",
    "itruediv": "div",
    "pos": "positive",
    "truediv": "div",
}
