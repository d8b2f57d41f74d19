"""What is shown of Eigen besides its arrays: expressions that nobody has evaluated yet, rotations, and its methods."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any

import gdb

from pyharness.ingdb.printers.array_calls import element
from pyharness.ingdb.printers.of_std.methods import Matcher
from pyharness.ingdb.printers.registry import expands_into, only_holds, shows, text_of
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.arrays.eigen import DENSE, layout_of
from pyharness.ingdb.tensors.held import tensor_held
from pyharness.model.tensors.text import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.ingdb.printers.of_std.methods import Methods
    from pyharness.ingdb.tensors.arrays.eigen import Dense

_EXPRESSION = r"Eigen::(?:Cwise\w+Op|Product|Inverse|Solve|Reverse|Select|Replicate)<.*>"
_OPERATION = re.compile(r"(?:const )?Eigen::internal::scalar_(\w+?)_op<")
_OPERANDS = ("m_lhs", "m_rhs", "m_arg1", "m_arg2", "m_arg3", "m_xpr", "m_matrix", "m_condition", "m_then", "m_else")


@expands_into(_EXPRESSION)
def _operands(value: gdb.Value) -> Iterator[gdb.Value]:
    known = {field.name for field in plain_type(value.type).fields()}
    return (value[name] for name in _OPERANDS if name in known)


@shows(_EXPRESSION)
def _expression(value: gdb.Value) -> str:
    """An ``auto`` holds one of these, with references to what it will be computed from."""
    return f"<not evaluated> {_formula(value)}"


def _formula(value: gdb.Value) -> str:
    name = plain_type(value.type).name or ""
    if not re.fullmatch(_EXPRESSION, name):
        return text_of(value)
    operation = _OPERATION.match(name[name.index("<") + 1 :])
    if operation and operation[1] == "constant":
        return text_of(value["m_functor"]["m_other"])
    what = operation[1] if operation else name[: name.index("<")].removeprefix("Eigen::")
    return f"{what}({', '.join(map(_formula, _operands(value)))})"


@shows(r"Eigen::Quaternion<.*>")
def _quaternion(value: gdb.Value) -> str:
    coefficients = tensor_held(value["m_coeffs"])
    if coefficients.unreadable:
        return f"<{coefficients.unreadable}>"
    parts = (float(element(value["m_coeffs"], gdb.Value(index))) for index in range(4))
    return f"({', '.join(f'{name}={number(part)}' for name, part in zip('xyzw', parts))})"  # noqa: B905  (3.9)


@only_holds(r"Eigen::Transform<.*>")
def _transform(value: gdb.Value) -> gdb.Value:
    return value["m_matrix"]


def _of_this(this: gdb.Value) -> Dense:
    """Where the elements are of the object whose method is called: gdb has a pointer to it."""
    return layout_of(this.dereference() if plain_type(this.type).code == gdb.TYPE_CODE_PTR else this)


def _element(kind: gdb.Type) -> gdb.Type:
    """The type of the elements, which is the first argument of the innermost template."""
    first = kind.template_argument(0)
    return first if first.code != gdb.TYPE_CODE_STRUCT or "Eigen::" not in (first.name or "") else _element(first)


_METHODS: Methods = {
    "rows": ("long", lambda this: _of_this(this).rows),
    "cols": ("long", lambda this: _of_this(this).columns),
    "size": ("long", lambda this: prod(_of_this(this).sizes)),
    "data": (lambda kind: _element(kind).pointer(), lambda this: _of_this(this).data),
    "coeff": (_element, element),
    "operator[]": (_element, element),
}


def register() -> None:
    """Have gdb compute what these methods return: a library has them inlined, and a core file runs nothing."""
    known: list[Any] = vars(gdb)["xmethods"]  # gdb's annotations do not have it
    known.append(Matcher(DENSE, _METHODS))
