"""The condition of a native breakpoint: a small expression, checked here, that C++ tests inside of the program.

It is read with Python's grammar and never evaluated by Python: what comes of it is a list of instructions for the stack
machine of ``csrc/breakpoints/condition.cpp``. A comparison with something that is not there (the size of an argument
that is no tensor, the maximum of an empty one) is false.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pyharness.model.dtypes import DTYPES
from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Type = Literal["number", "text", "shape", "tensor"]
"""Truth is a number, as in Python."""

MOST_ARGUMENTS = 16
MOST_INSTRUCTIONS = 256
MOST_DEPTH = 16
"""Of the machine's stack."""
_MOST_TEXT = 2000
_TENSOR_NAME = re.compile(r"(in|out)(\d*)")
_OF_TENSOR = (
    "absmax",
    "contiguous",
    "defined",
    "dim",
    "finite",
    "inf",
    "max",
    "mean",
    "min",
    "nan",
    "numel",
    "requires_grad",
    "sum",
)
"""Functions of one tensor that give a number."""
_OF_NUMBER = {"nan": "is_nan", "inf": "is_inf", "finite": "is_finite", "abs": "abs"}
_FUNCTIONS = tuple(sorted({*_OF_TENSOR, *_OF_NUMBER, "shape", "size", "dtype", "device", "len"}))
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "modulo",
    ast.Pow: "power",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}
_DTYPE_NAMES = tuple(entry.name for entry in DTYPES)
_DEVICE = re.compile(r"[a-z]+(:\d+)?")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step of the stack machine."""

    name: str
    slot: int = 0
    """An argument (0 to 15 went in, 16 to 31 came out), a variable, or where a jump goes."""
    element: int = -1
    """Of an argument that is a list of tensors; -1 for the argument as a whole."""
    number: float = 0.0
    text: str = ""

    def to_tuple(self) -> tuple[str, int, int, float, str]:
        """What C++ takes."""
        return self.name, self.slot, self.element, self.number, self.text


@dataclass(frozen=True)
class Condition:
    """A condition that was found sound."""

    text: str
    instructions: tuple[Instruction, ...]

    @property
    def needs_inputs(self) -> bool:
        """Whether it asks for what went into an op or a node."""
        return any(each.name in _READS and each.slot < MOST_ARGUMENTS for each in self.instructions)

    @property
    def needs_outputs(self) -> bool:
        """Whether it asks for what came out: it is tested when the op or the node has run, else before."""
        return any(each.name in _READS and each.slot >= MOST_ARGUMENTS for each in self.instructions)


_READS = frozenset({*_OF_TENSOR, "size", "dtype_is", "device_is", "value"})


def compile_condition(text: str, variables: Sequence[str] | None = None) -> Condition:
    """The condition in ``text``, over tensors, or over the ``variables`` of a place in a kernel.

    ``UsageError`` for what is no condition, with the nearest names.
    """
    shown = text.strip()
    if len(shown) > _MOST_TEXT:
        raise UsageError(f"A condition has at most {_MOST_TEXT} characters, this one {len(shown)}.")
    try:
        tree = ast.parse(shown, mode="eval")
    except SyntaxError as error:
        raise UsageError(f"The condition {shown!r} does not parse: {error.msg}.", _EXAMPLE) from error
    except (ValueError, MemoryError, RecursionError) as error:
        raise UsageError(f"The condition {shown!r} does not parse: {error}.", _EXAMPLE) from error
    compiler = _Compiler(shown, variables)
    try:
        compiler.number(tree.body)
    except RecursionError as error:
        raise UsageError("The condition is nested too deeply.") from error
    return compiler.condition()


_EXAMPLE = "It is an expression such as nan(out) or shape(in0)[0] == 1."


class _Compiler:
    """Walks over the tree once, and leaves instructions in the order in which they run."""

    def __init__(self, text: str, variables: Sequence[str] | None) -> None:
        self._text = text
        self._variables = variables
        self._code: list[Instruction] = []

    def condition(self) -> Condition:
        """What was compiled."""
        if len(self._code) > MOST_INSTRUCTIONS or _depth(self._code) > MOST_DEPTH:
            raise UsageError(f"The condition {self._text!r} is too long.", "Split it into two breakpoints.")
        return Condition(self._text, tuple(self._code))

    def number(self, node: ast.expr) -> None:
        """Compile what must be a number or a truth value."""
        self._to_number(node, self._any(node))

    def _to_number(self, node: ast.expr, kind: Type) -> None:
        if kind == "tensor":
            tensor = self._code.pop()
            self._emit(Instruction("value", tensor.slot, tensor.element))
        elif kind != "number":
            raise self._error(f"{self._source(node)} is a {kind}, not a number", _HOW[kind])

    # --- what a node of the tree is -----------------------------------------------------------------------------------

    def _any(self, node: ast.expr) -> Type:  # noqa: PLR0911  (one for each kind of expression)
        """Compile any expression; a tensor, a text or a shape is left as one instruction that names it."""
        match node:
            case ast.Constant(value=value):
                return self._constant(node, value)
            case ast.Name(id=name):
                return self._name(name)
            case ast.BoolOp(op=op, values=values):
                return self._bool(values, "jump_if_true" if isinstance(op, ast.Or) else "jump_if_false")
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(node, op, operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                self.number(left)
                self.number(right)
                self._emit(Instruction(_ARITHMETIC[type(op)]))
                return "number"
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compare(left, ops, others)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(node, name, arguments)
            case ast.Subscript(value=value, slice=index):
                return self._item(node, value, index)
        raise self._error(f"{self._source(node)} is nothing that a condition can have", _EXAMPLE)

    def _constant(self, node: ast.expr, value: object) -> Type:
        if isinstance(value, str):
            self._emit(Instruction("text", text=value))
            return "text"
        if isinstance(value, (bool, int, float)):
            try:
                self._emit(Instruction("constant", number=float(value)))
            except OverflowError as error:
                raise self._error(f"{self._source(node)} is too large", "") from error
            return "number"
        raise self._error(f"{self._source(node)} is neither a number nor a text", "Use defined(in0) to ask for None.")

    def _name(self, name: str) -> Type:
        if self._variables is not None:
            if name in self._variables:
                self._emit(Instruction("variable", self._variables.index(name)))
                return "number"
        elif match := _TENSOR_NAME.fullmatch(name):
            return self._argument(name, match[1], int(match[2] or 0))
        if name in _CONSTANTS:
            self._emit(Instruction("constant", number=_CONSTANTS[name]))
            return "number"
        if self._variables is not None:
            there = f"This place has {', '.join(self._variables) or 'no variables'}."
            raise self._error(f"it knows no {name!r}", f"{nearest(name, self._variables)} {there}".strip())
        offered = nearest(name, ("in0", "in1", "out", "out1", *_FUNCTIONS))
        raise self._error(f"it knows no {name!r}", offered or "Tensors are in0, in1, ... and out, out1, ...")

    def _argument(self, name: str, side: str, index: int) -> Type:
        if name == "in" or index >= MOST_ARGUMENTS:
            raise self._error(f"it knows no {name!r}", f"Arguments are in0 to in{MOST_ARGUMENTS - 1}.")
        self._emit(Instruction("tensor", index + (MOST_ARGUMENTS if side == "out" else 0)))
        return "tensor"

    def _bool(self, values: Iterable[ast.expr], jump: str) -> Type:
        ends: list[int] = []
        for count, value in enumerate(values):
            if count:
                ends.append(self._emit(Instruction(jump)))
                self._emit(Instruction("drop"))
            self.number(value)
        self._land(ends)
        return "number"

    def _land(self, jumps: Iterable[int]) -> None:
        for at in jumps:
            self._code[at] = Instruction(self._code[at].name, len(self._code))

    def _unary(self, node: ast.expr, op: ast.unaryop, operand: ast.expr) -> Type:
        self.number(operand)
        if isinstance(op, ast.Invert):
            raise self._error(f"{self._source(node)}: ~ is no operator here", "Write `not`.")
        if not isinstance(op, ast.UAdd):
            self._emit(Instruction("not" if isinstance(op, ast.Not) else "negate"))
        return "number"

    # --- comparisons --------------------------------------------------------------------------------------------------

    def _compare(self, left: ast.expr, ops: Sequence[ast.cmpop], others: Sequence[ast.expr]) -> Type:
        ends: list[int] = []
        for count, (op, right) in enumerate(zip(ops, others, strict=True)):
            if count:
                ends.append(self._emit(Instruction("jump_if_false")))
                self._emit(Instruction("drop"))
            self._pair(left, op, right)
            left = right
        self._land(ends)
        return "number"

    def _pair(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> None:
        if isinstance(op, (ast.In, ast.NotIn)):
            self._membership(left, right)
            if isinstance(op, ast.NotIn):
                self._emit(Instruction("not"))
            return
        if type(op) not in _COMPARISONS:
            raise self._error("`is` is no comparison here", "Write ==, or defined(in0) to ask for None.")
        name = _COMPARISONS[type(op)]
        start = len(self._code)
        kind = self._any(left)
        if kind in {"text", "shape"}:
            self._same(self._code.pop(start), kind, name, right)
            return
        self._to_number(left, kind)
        self.number(right)
        self._emit(Instruction(name))

    def _membership(self, left: ast.expr, right: ast.expr) -> None:
        if not isinstance(right, (ast.Tuple, ast.List, ast.Set)) or not right.elts:
            raise self._error(f"{self._source(right)} is no list of values", 'Write x in (1, 2), or in ("a", "b").')
        equal = ast.Eq()
        self._bool([ast.Compare(left, [equal], [value]) for value in right.elts], "jump_if_true")

    def _same(self, described: Instruction, kind: Type, comparison: str, right: ast.expr) -> None:
        """``dtype(in0) == "float32"``, ``device(in0) == "cuda"``, ``shape(in0) == (4, 8)``."""
        if comparison not in {"equal", "not_equal"}:
            raise self._error(f"a {kind} can only be the same or not", "Write == or !=.")
        if kind == "shape":
            self._same_shape(described, right)
        else:
            self._emit(self._same_text(described, right))
        if comparison == "not_equal":
            self._emit(Instruction("not"))

    def _same_text(self, described: Instruction, right: ast.expr) -> Instruction:
        wanted = right.value if isinstance(right, ast.Constant) else None
        if described.name == "text" or not isinstance(wanted, str):
            raise self._error("a text is compared with dtype(...) or device(...)", 'Write dtype(in0) == "float32".')
        wanted = wanted.removeprefix("torch.")
        if described.name == "dtype_is" and wanted not in _DTYPE_NAMES:
            raise self._error(f"there is no dtype {wanted!r}", nearest(wanted, _DTYPE_NAMES))
        if described.name == "device_is" and not _DEVICE.fullmatch(wanted):
            raise self._error(f"{wanted!r} is no device", "Write cpu, cuda or cuda:1.")
        return Instruction(described.name, described.slot, described.element, text=wanted)

    def _same_shape(self, described: Instruction, right: ast.expr) -> None:
        if not isinstance(right, (ast.Tuple, ast.List)):
            raise self._error("a shape is compared with a shape", "Write shape(in0) == (4, 8).")
        slot, element = described.slot, described.element
        self._emit(Instruction("dim", slot, element))
        self._emit(Instruction("constant", number=float(len(right.elts))))
        self._emit(Instruction("equal"))
        ends = []
        for index, value in enumerate(right.elts):
            ends.append(self._emit(Instruction("jump_if_false")))
            self._emit(Instruction("drop"))
            self._emit(Instruction("size", slot, element, number=float(index)))
            self.number(value)
            self._emit(Instruction("equal"))
        self._land(ends)

    # --- functions and items ------------------------------------------------------------------------------------------

    def _call(self, node: ast.expr, name: str, arguments: Sequence[ast.expr]) -> Type:
        if name not in _FUNCTIONS:
            raise self._error(f"it knows no function {name!r}", nearest(name, _FUNCTIONS) or _list(_FUNCTIONS))
        wanted = 2 if name == "size" else 1
        if len(arguments) != wanted:
            raise self._error(f"{name}() takes {wanted} argument{'s' * (wanted > 1)}, not {len(arguments)}", "")
        if name == "size":
            return self._size(self._tensor(arguments[0], self._any(arguments[0]), name), arguments[1])
        start = len(self._code)
        kind = self._any(arguments[0])
        if name == "len" and kind == "shape":
            self._code[start] = Instruction("dim", self._code[start].slot, self._code[start].element)
            return "number"
        if name == "abs" or (kind == "number" and name in _OF_NUMBER):
            self._to_number(arguments[0], kind)
            self._emit(Instruction(_OF_NUMBER[name]))
            return "number"
        if name == "len":
            raise self._error(f"{self._source(node)}: len() takes a shape", "Write len(shape(in0)).")
        return self._of_tensor(name, self._tensor(arguments[0], kind, name))

    def _of_tensor(self, name: str, tensor: Instruction) -> Type:
        kinds: dict[str, tuple[str, Type]] = {
            "shape": ("shape", "shape"),
            "dtype": ("dtype_is", "text"),
            "device": ("device_is", "text"),
        }
        instruction, kind = kinds.get(name, (name, "number"))
        self._emit(Instruction(instruction, tensor.slot, tensor.element))
        return kind

    def _tensor(self, node: ast.expr, kind: Type, function: str) -> Instruction:
        """Take back the instruction that names a tensor."""
        if kind != "tensor":
            remedy = "This place has numbers only." if self._variables is not None else "Tensors are in0, ... and out."
            raise self._error(f"{function}() takes a tensor, and {self._source(node)} is none", remedy)
        return self._code.pop()

    def _size(self, tensor: Instruction, index: ast.expr) -> Type:
        which = _whole_number(index)
        if which is None:
            raise self._error(f"{self._source(index)} is no dimension", "Write a number: shape(in0)[0].")
        self._emit(Instruction("size", tensor.slot, tensor.element, number=float(which)))
        return "number"

    def _item(self, node: ast.expr, value: ast.expr, index: ast.expr) -> Type:
        kind = self._any(value)
        found = self._code.pop()
        if kind == "shape":
            return self._size(found, index)
        which = _whole_number(index)
        if kind != "tensor" or found.element >= 0 or which is None or which < 0:
            raise self._error(
                f"{self._source(node)} cannot be taken", "Write shape(in0)[0], or in0[1] for a list of tensors."
            )
        self._emit(Instruction("tensor", found.slot, which))
        return "tensor"

    # --- the rest -----------------------------------------------------------------------------------------------------

    def _emit(self, instruction: Instruction) -> int:
        self._code.append(instruction)
        return len(self._code) - 1

    @staticmethod
    def _source(node: ast.expr) -> str:
        return ast.unparse(node)

    def _error(self, what: str, remedy: str) -> UsageError:
        return UsageError(f"The condition {self._text!r}: {what}.", remedy)


_CONSTANTS = {"true": 1.0, "false": 0.0}
_HOW = {"text": 'Compare it: dtype(in0) == "float32".', "shape": "Take one size: shape(in0)[0].", "tensor": ""}
_EFFECT = {
    **dict.fromkeys((*_ARITHMETIC.values(), *_COMPARISONS.values(), "drop"), -1),
    **dict.fromkeys((*_READS, "constant", "variable"), 1),
}


def _depth(code: Iterable[Instruction]) -> int:
    """The most values on the stack at a time: jumps land where as many are there as without them."""
    now = most = 0
    for each in code:
        now += _EFFECT.get(each.name, 0)
        most = max(most, now)
    return most


def _whole_number(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST_TEXT else None


def _list(names: Iterable[str]) -> str:
    return f"Functions are {', '.join(names)}."
