"""The condition of a native breakpoint: a small expression, checked here, that C++ tests inside of the program.

It is read with Python's grammar and never evaluated by Python: what comes of it is a list of instructions for the stack
machine of ``csrc/breakpoints/conditions/condition.cpp``. A comparison with something that is not there (the size of an
argument that is no tensor, the maximum of an empty one) is false.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pyharness.model.conditions.code import MOST_ARGUMENTS, READS
from pyharness.model.conditions.compiler import EXAMPLE, Compiler
from pyharness.model.errors import UsageError
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.model.conditions.code import Instruction

_MOST_TEXT = 2000


@frozen
class Condition:
    """A condition that was found sound."""

    text: str
    instructions: tuple[Instruction, ...]

    @property
    def needs_inputs(self) -> bool:
        """Whether it asks for what went into an op or a node."""
        return any(each.name in READS and each.slot < MOST_ARGUMENTS for each in self.instructions)

    @property
    def needs_outputs(self) -> bool:
        """Whether it asks for what came out: it is tested when the op or the node has run, else before."""
        return any(each.name in READS and each.slot >= MOST_ARGUMENTS for each in self.instructions)


def compile_condition(text: str, variables: Sequence[str] | None = None, rank: int | None = None) -> Condition:
    """The condition in ``text``, over tensors, or over the ``variables`` of a place in a kernel.

    ``rank`` is what the name ``rank`` means in it; ``None`` where the program is no rank of a job: nothing then.
    ``UsageError`` for what is no condition, with the nearest names.
    """
    shown = text.strip()
    if len(shown) > _MOST_TEXT:
        raise UsageError(f"A condition has at most {_MOST_TEXT} characters, this one {len(shown)}.", "Shorten it.")
    try:
        tree = ast.parse(shown, mode="eval")
    except SyntaxError as error:
        raise UsageError(f"The condition {shown!r} does not parse: {error.msg}.", EXAMPLE) from error
    except (ValueError, MemoryError, RecursionError) as error:
        raise UsageError(f"The condition {shown!r} does not parse: {error}.", EXAMPLE) from error
    compiler = Compiler(shown, variables, rank)
    try:
        compiler.number(tree.body)
    except RecursionError as error:
        raise UsageError("The condition is nested too deeply.", "Say it with fewer parentheses.") from error
    return Condition(shown, compiler.code.finished())
