"""Functions in a condition, ``nan(out)``, and what is taken of something: ``shape(in0)[0]``, ``in0[1]``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pyharness.model.conditions.code import OF_TENSOR, Instruction
from pyharness.model.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyharness.model.conditions.code import Type
    from pyharness.model.conditions.compiler import Compiler

_OF_NUMBER = {"nan": "is_nan", "inf": "is_inf", "finite": "is_finite", "abs": "abs"}
FUNCTIONS = tuple(sorted({*OF_TENSOR, *_OF_NUMBER, "shape", "size", "dtype", "device", "len"}))
_MOST_DIMENSION = 2000


def call(compiler: Compiler, node: ast.expr, name: str, arguments: Sequence[ast.expr]) -> Type:
    """Compile ``name(arguments)``."""
    if name not in FUNCTIONS:
        raise compiler.code.error(f"it knows no function {name!r}", nearest(name, FUNCTIONS) or _list(FUNCTIONS))
    wanted = 2 if name == "size" else 1
    if len(arguments) != wanted:
        raise compiler.code.error(f"{name}() takes {wanted} argument{'s' * (wanted > 1)}, not {len(arguments)}", "")
    if name == "size":
        return _size(compiler, _tensor(compiler, arguments[0], compiler.visit(arguments[0]), name), arguments[1])
    start = len(compiler.code)
    kind = compiler.visit(arguments[0])
    if name == "len" and kind == "shape":
        compiler.code.become(start, "dim")
        return "number"
    if name == "abs" or (kind == "number" and name in _OF_NUMBER):
        compiler.to_number(arguments[0], kind)
        compiler.code.emit(Instruction(_OF_NUMBER[name]))
        return "number"
    if name == "len":
        raise compiler.code.error(f"{ast.unparse(node)}: len() takes a shape", "Write len(shape(in0)).")
    return _of_tensor(compiler, name, _tensor(compiler, arguments[0], kind, name))


def _of_tensor(compiler: Compiler, name: str, tensor: Instruction) -> Type:
    kinds: dict[str, tuple[str, Type]] = {
        "shape": ("shape", "shape"),
        "dtype": ("dtype_is", "text"),
        "device": ("device_is", "text"),
    }
    instruction, kind = kinds.get(name, (name, "number"))
    compiler.code.emit(Instruction(instruction, tensor.slot, tensor.element))
    return kind


def _tensor(compiler: Compiler, node: ast.expr, kind: Type, function: str) -> Instruction:
    """Take back the instruction that names a tensor."""
    if kind != "tensor":
        remedy = "This place has numbers only." if compiler.variables is not None else "Tensors are in0, ... and out."
        raise compiler.code.error(f"{function}() takes a tensor, and {ast.unparse(node)} is none", remedy)
    return compiler.code.take()


def _size(compiler: Compiler, tensor: Instruction, index: ast.expr) -> Type:
    which = _whole_number(index)
    if which is None:
        raise compiler.code.error(f"{ast.unparse(index)} is not a dimension", "Write a number: shape(in0)[0].")
    compiler.code.emit(Instruction("size", tensor.slot, tensor.element, number=float(which)))
    return "number"


def item(compiler: Compiler, node: ast.expr, value: ast.expr, index: ast.expr) -> Type:
    """Compile ``value[index]``."""
    kind = compiler.visit(value)
    found = compiler.code.take()
    if kind == "shape":
        return _size(compiler, found, index)
    which = _whole_number(index)
    if kind != "tensor" or found.element >= 0 or which is None or which < 0:
        raise compiler.code.error(
            f"{ast.unparse(node)} cannot be taken", "Write shape(in0)[0], or in0[1] for a list of tensors."
        )
    compiler.code.emit(Instruction("tensor", found.slot, which))
    return "tensor"


def _whole_number(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST_DIMENSION else None


def _list(names: Iterable[str]) -> str:
    return f"Functions are {', '.join(names)}."
