"""Comparisons in a condition: of numbers, in a chain, with a list of values, of dtypes, devices and shapes."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from pyharness.model.conditions.code import COMPARISONS, Instruction
from pyharness.model.errors import nearest
from pyharness.model.tensors.dtypes import DTYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.model.conditions.code import Type
    from pyharness.model.conditions.compiler import Compiler

_DTYPE_NAMES = tuple(entry.name for entry in DTYPES)
_DEVICE = re.compile(r"[a-z]+(:\d+)?")


def compare(compiler: Compiler, left: ast.expr, ops: Sequence[ast.cmpop], others: Sequence[ast.expr]) -> Type:
    """Compile ``left < other <= another``, which is decided as soon as one does not hold."""
    ends: list[int] = []
    for count, (op, right) in enumerate(zip(ops, others)):  # noqa: B905  (CPython 3.9 has no strict)
        if count:
            ends.append(compiler.code.emit(Instruction("jump_if_false")))
            compiler.code.emit(Instruction("drop"))
        _pair(compiler, left, op, right)
        left = right
    compiler.code.land(ends)
    return "number"


def _pair(compiler: Compiler, left: ast.expr, op: ast.cmpop, right: ast.expr) -> None:
    if isinstance(op, (ast.In, ast.NotIn)):
        _membership(compiler, left, right)
        if isinstance(op, ast.NotIn):
            compiler.code.emit(Instruction("not"))
        return
    if type(op) not in COMPARISONS:
        raise compiler.code.error("`is` is not a comparison here", "Write ==, or defined(in0) to ask for None.")
    name = COMPARISONS[type(op)]
    start = len(compiler.code)
    kind = compiler.visit(left)
    if kind in {"text", "shape"}:
        _same(compiler, compiler.code.take(start), kind, name, right)
        return
    compiler.to_number(left, kind)
    compiler.number(right)
    compiler.code.emit(Instruction(name))


def _membership(compiler: Compiler, left: ast.expr, right: ast.expr) -> None:
    if not isinstance(right, (ast.Tuple, ast.List, ast.Set)) or not right.elts:
        raise compiler.code.error(
            f"{ast.unparse(right)} is not a list of values", 'Write x in (1, 2), or in ("a", "b").'
        )
    equal = ast.Eq()
    compiler.chain([ast.Compare(left, [equal], [value]) for value in right.elts], "jump_if_true")


def _same(compiler: Compiler, described: Instruction, kind: Type, comparison: str, right: ast.expr) -> None:
    """``dtype(in0) == "float32"``, ``device(in0) == "cuda"``, ``shape(in0) == (4, 8)``."""
    if comparison not in {"equal", "not_equal"}:
        raise compiler.code.error(f"a {kind} can only be the same or not", "Write == or !=.")
    if kind == "shape":
        _same_shape(compiler, described, right)
    else:
        compiler.code.emit(_same_text(compiler, described, right))
    if comparison == "not_equal":
        compiler.code.emit(Instruction("not"))


def _same_text(compiler: Compiler, described: Instruction, right: ast.expr) -> Instruction:
    wanted = right.value if isinstance(right, ast.Constant) else None
    if described.name == "text" or not isinstance(wanted, str):
        raise compiler.code.error("a text is compared with dtype(...) or device(...)", 'Write dtype(in0) == "float32".')
    wanted = wanted.removeprefix("torch.")
    if described.name == "dtype_is" and wanted not in _DTYPE_NAMES:
        raise compiler.code.error(f"there is no dtype {wanted!r}", nearest(wanted, _DTYPE_NAMES))
    if described.name == "device_is" and not _DEVICE.fullmatch(wanted):
        raise compiler.code.error(f"{wanted!r} is not a device", "Write cpu, cuda or cuda:1.")
    return Instruction(described.name, described.slot, described.element, text=wanted)


def _same_shape(compiler: Compiler, described: Instruction, right: ast.expr) -> None:
    if not isinstance(right, (ast.Tuple, ast.List)):
        raise compiler.code.error("a shape is compared with a shape", "Write shape(in0) == (4, 8).")
    slot, element = described.slot, described.element
    compiler.code.emit(Instruction("dim", slot, element))
    compiler.code.emit(Instruction("constant", number=float(len(right.elts))))
    compiler.code.emit(Instruction("equal"))
    ends = []
    for index, value in enumerate(right.elts):
        ends.append(compiler.code.emit(Instruction("jump_if_false")))
        compiler.code.emit(Instruction("drop"))
        compiler.code.emit(Instruction("size", slot, element, number=float(index)))
        compiler.number(value)
        compiler.code.emit(Instruction("equal"))
    compiler.code.land(ends)
