"""Compiles the tree of a condition: walks over it once, and leaves instructions in the order in which they run."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from pyharness.model.conditions.code import ABSENT, ARITHMETIC, MOST_ARGUMENTS, Code, Instruction
from pyharness.model.conditions.comparisons import compare
from pyharness.model.conditions.functions import FUNCTIONS, call, item
from pyharness.model.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyharness.model.conditions.code import Type

EXAMPLE = "It is an expression such as nan(out) or shape(in0)[0] == 1."
_TENSOR_NAME = re.compile(r"(in|out)(\d*)")
_HOW = {"text": 'Compare it: dtype(in0) == "float32".', "shape": "Take one size: shape(in0)[0].", "tensor": ""}


class Compiler:
    """Walks over the tree once, and leaves instructions in the order in which they run."""

    def __init__(self, text: str, variables: Sequence[str] | None, rank: int | None) -> None:
        self.code = Code(text)
        self._constants = {"true": 1.0, "false": 0.0, "rank": ABSENT if rank is None else float(rank)}
        self.variables = variables
        """The variables of a place in a kernel; ``None`` where the condition is about tensors."""

    def number(self, node: ast.expr) -> None:
        """Compile what must be a number or a truth value."""
        self.to_number(node, self.visit(node))

    def to_number(self, node: ast.expr, kind: Type) -> None:
        """Make a number of what was compiled last: of a tensor its one element."""
        if kind == "tensor":
            tensor = self.code.take()
            self.code.emit(Instruction("value", tensor.slot, tensor.element))
        elif kind != "number":
            raise self.code.error(f"{ast.unparse(node)} is a {kind}, not a number", _HOW[kind])

    # --- what a node of the tree is -----------------------------------------------------------------------------------

    def visit(self, node: ast.expr) -> Type:  # noqa: PLR0911  (one for each kind of expression)
        """Compile any expression; a tensor, a text or a shape is left as one instruction that names it."""
        if isinstance(node, ast.Constant):
            return self._constant(node, node.value)
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.BoolOp):
            return self.chain(node.values, "jump_if_true" if isinstance(node.op, ast.Or) else "jump_if_false")
        if isinstance(node, ast.UnaryOp):
            return self._unary(node, node.op, node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            self.number(node.left)
            self.number(node.right)
            self.code.emit(Instruction(ARITHMETIC[type(node.op)]))
            return "number"
        if isinstance(node, ast.Compare):
            return compare(self, node.left, node.ops, node.comparators)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return call(self, node, node.func.id, node.args)
        if isinstance(node, ast.Subscript):
            return item(self, node, node.value, node.slice)
        raise self.code.error(f"{ast.unparse(node)} is nothing that a condition can have", EXAMPLE)

    def _constant(self, node: ast.expr, value: object) -> Type:
        if isinstance(value, str):
            self.code.emit(Instruction("text", text=value))
            return "text"
        if isinstance(value, (bool, int, float)):
            try:
                self.code.emit(Instruction("constant", number=float(value)))
            except OverflowError as error:
                raise self.code.error(f"{ast.unparse(node)} is too large", "") from error
            return "number"
        raise self.code.error(
            f"{ast.unparse(node)} is neither a number nor a text", "Use defined(in0) to ask for None."
        )

    def _name(self, name: str) -> Type:
        if self.variables is not None:
            if name in self.variables:
                self.code.emit(Instruction("variable", self.variables.index(name)))
                return "number"
        elif match := _TENSOR_NAME.fullmatch(name):
            return self._argument(name, match[1], int(match[2] or 0))
        if name in self._constants:
            self.code.emit(Instruction("constant", number=self._constants[name]))
            return "number"
        if self.variables is not None:
            there = f"This place has {', '.join(self.variables) or 'no variables'}."
            raise self.code.error(f"it knows no {name!r}", f"{nearest(name, self.variables)} {there}".strip())
        offered = nearest(name, ("in0", "in1", "out", "out1", "rank", *FUNCTIONS))
        raise self.code.error(f"it knows no {name!r}", offered or "Tensors are in0, in1, ... and out, out1, ...")

    def _argument(self, name: str, side: str, index: int) -> Type:
        if name == "in" or index >= MOST_ARGUMENTS:
            raise self.code.error(f"it knows no {name!r}", f"Arguments are in0 to in{MOST_ARGUMENTS - 1}.")
        self.code.emit(Instruction("tensor", index + (MOST_ARGUMENTS if side == "out" else 0)))
        return "tensor"

    def chain(self, values: Iterable[ast.expr], jump: str) -> Type:
        """Compile values of which the first that decides is the result; ``jump`` says which does."""
        ends: list[int] = []
        for count, value in enumerate(values):
            if count:
                ends.append(self.code.emit(Instruction(jump)))
                self.code.emit(Instruction("drop"))
            self.number(value)
        self.code.land(ends)
        return "number"

    def _unary(self, node: ast.expr, op: ast.unaryop, operand: ast.expr) -> Type:
        self.number(operand)
        if isinstance(op, ast.Invert):
            raise self.code.error(f"{ast.unparse(node)}: ~ is not an operator here", "Write `not`.")
        if not isinstance(op, ast.UAdd):
            self.code.emit(Instruction("not" if isinstance(op, ast.Not) else "negate"))
        return "number"
