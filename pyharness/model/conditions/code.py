"""What a condition is compiled to: instructions for ``csrc/breakpoints/conditions/condition.cpp``, a stack machine."""

from __future__ import annotations

import ast
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

Type = Literal["number", "text", "shape", "tensor"]
"""Truth is a number, as in Python."""

ABSENT: float = struct.unpack("<d", struct.pack("<Q", 0x7FF4_5048_4142_534E))[0]
"""What is not there, as ``csrc/breakpoints/conditions/condition.cpp`` knows it: a NaN that no computation makes."""
MOST_ARGUMENTS = 16
MOST_INSTRUCTIONS = 256
MOST_DEPTH = 16
"""How deep the machine's stack may get."""
OF_TENSOR = (
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
READS = frozenset({*OF_TENSOR, "size", "dtype_is", "device_is", "value"})
"""Instructions that look at an argument."""
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "modulo",
    ast.Pow: "power",
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}
_EFFECT = {
    **dict.fromkeys((*ARITHMETIC.values(), *COMPARISONS.values(), "drop"), -1),
    **dict.fromkeys((*READS, "constant", "variable"), 1),
}


@dataclass(frozen=True)
class Instruction:
    """One step of the stack machine."""

    name: str
    slot: int = 0
    """An argument (0 to 15 went in, 16 to 31 came out), a variable, or where a jump goes."""
    element: int = -1
    """The index in an argument that is a list of tensors; -1 for the argument as a whole."""
    number: float = 0.0
    text: str = ""

    def to_tuple(self) -> tuple[str, int, int, float, str]:
        """What C++ takes."""
        return self.name, self.slot, self.element, self.number, self.text


class Code:
    """The instructions of one condition, as they are written."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._written: list[Instruction] = []

    def __len__(self) -> int:
        return len(self._written)

    def emit(self, instruction: Instruction) -> int:
        """Write one more; its place."""
        self._written.append(instruction)
        return len(self._written) - 1

    def take(self, at: int = -1) -> Instruction:
        """Take one back, which is the last where none is named."""
        return self._written.pop(at)

    def become(self, at: int, name: str) -> None:
        """Make another of the one at a place, for the same argument."""
        there = self._written[at]
        self._written[at] = Instruction(name, there.slot, there.element)

    def land(self, jumps: Iterable[int]) -> None:
        """Have these jumps come here."""
        for at in jumps:
            self._written[at] = Instruction(self._written[at].name, len(self._written))

    def error(self, what: str, remedy: str) -> UsageError:
        """What is wrong with the condition, to be raised."""
        return UsageError(f"The condition {self._text!r}: {what}.", remedy)

    def finished(self) -> tuple[Instruction, ...]:
        """All of them; ``UsageError`` where the machine has no room for them."""
        if len(self._written) > MOST_INSTRUCTIONS or _depth(self._written) > MOST_DEPTH:
            raise UsageError(f"The condition {self._text!r} is too long.", "Split it into two breakpoints.")
        return tuple(self._written)


def _depth(code: Iterable[Instruction]) -> int:
    """The most values on the stack at a time: jumps land where as many are there as without them."""
    now = most = 0
    for each in code:
        now += _EFFECT.get(each.name, 0)
        most = max(most, now)
    return most
