"""What a session is to do, as data: the command line and a session file both become one of these."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, get_args

from pyharness.model.conditions import log_message
from pyharness.model.evaluation import EVAL_TIMEOUT
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyharness.debugger.starting.job import JobCommand
    from pyharness.debugger.starting.launch import Command
    from pyharness.model.element import Element
    from pyharness.model.where import Where

Move = Literal["at", "element", "continue", "into", "into_native", "over", "out"]
MOVES: tuple[Move, ...] = get_args(Move)


@frozen
class Expectation:
    """What a session file says of a stop."""

    step: int
    """1-based number of the step that says so."""
    line: int
    """Line of the session file."""
    fields: Mapping[str, str | int] = field(default_factory=dict)
    """By key: ``function``, ``fx.node``, ...; see ``session.expect``."""
    printed: Mapping[str, str] = field(default_factory=dict)
    """Expression → pattern."""
    stack: tuple[Mapping[str, str | int], ...] = ()
    """Frames that the stack has in this order, innermost first; others may lie between."""


@frozen
class Step:
    """One move and what is asked where it ends."""

    move: Move
    named: str
    """The move as the user wrote it, for messages: ``--into``, ``step 3 (into)``."""
    where: Where | None = None
    """The place of an ``at``."""
    element: Element | None = None
    """What an ``element`` runs on to."""
    prints: tuple[str, ...] = ()
    stack: bool = False
    expects: tuple[Expectation, ...] = ()


@frozen
class LogPoint:
    """What prints a line whenever a place is reached, and stops nothing."""

    where: Where
    message: str
    """With expressions in braces, in the place's language."""

    def __post_init__(self) -> None:
        log_message.required(self.message, python=self.where.is_python)


@frozen
class Plan:
    """A whole session."""

    target: Command
    """The program."""
    steps: tuple[Step, ...]
    logs: tuple[LogPoint, ...] = ()
    """Set before the first step; the debuggers then stay to the program's end."""
    full: bool = False
    """Show plumbing frames too."""
    kill: bool = False
    """End the program after the last step instead of letting it run on."""
    exit_code: int | None = None
    """What the program is expected to end with; negative for a signal."""
    exit_code_line: int = 0
    """Line of the session file that says so."""
    expecting: bool = False
    """Whether it comes from a session file: its transcript lists expectations, if only none."""
    include: tuple[str, ...] = ()
    """Path patterns of library code that steps shall stop in after all."""
    eval_timeout: float = EVAL_TIMEOUT
    """Seconds that an expression may take."""
    job: JobCommand | None = None
    """What starts ``target`` in the ranks of a job; ``None`` where it is one program."""

    @property
    def wants_engine(self) -> bool:
        """Whether a place is an op or an autograd node, or saved tensors are watched."""
        places = [*(step.where for step in self.steps), *(point.where for point in self.logs)]
        return self.target.overwritten or any(where is not None and where.is_native_op for where in places)
