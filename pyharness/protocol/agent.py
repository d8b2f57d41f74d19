"""What gdb asks of the agent: a Python function in the program, called on a stopped thread (``debuggee/agent.py``).

On the wire a request is ``{"do": NAME, FIELD: ...}`` in a buffer of the program's, and its answer ``{"answer": ...}``,
or ``{"error": TEXT}`` where it failed. The controller sends its requests through gdb (``mi.AskAgent``), commands in
plain gdb send theirs themselves. Nothing in a request is run as code but the expression of ``Evaluate``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Optional

from pyharness.model.codec import MalformedError
from pyharness.model.frozen import frozen
from pyharness.protocol.question import Answer, Question

if TYPE_CHECKING:
    from pyharness.model.where import Where


MESSAGE_SIZE = 1 << 16
"""Bytes of the buffer of the request, and of that of the answer."""


@frozen
class Doorway:
    """Where gdb asks: addresses in the program."""

    call: int
    """The function ``int agent(void)``, which returns 0 where there is an answer."""
    request: int
    answer: int


class Request(Question[Answer]):
    """One request; the thread that it is about is the one that it is called on."""

    def written(self) -> dict[str, Any]:
        """The request as it is written."""
        return {"do": self.tag, **self.to_json()}

    def answer_in(self, said: Any) -> Answer:
        """The answer in what the agent said; ``RefusedError`` where that is an error."""
        if isinstance(said, dict) and "error" in said:
            raise (UnknownError if said.get("unknown") else RefusedError)(str(said["error"]))
        if not isinstance(said, dict) or "answer" not in said:
            raise MalformedError(f"the agent said neither an answer nor an error to {self.tag}")
        return self.read_answer(said["answer"])


class RefusedError(Exception):
    """The agent could not do it: why."""


class UnknownError(RefusedError):
    """The agent does not do that: its program was not started for it."""


@frozen
class ArmNextLine(Request[bool], name="arm_next_line"):
    """Have debugpy stop at the next line of the innermost frame of the user's, or of a caller; whether it will."""


@frozen
class ArmStepIn(Request[int], name="arm_step_in"):
    """Have debugpy stop at the next line of any frame of the user's, also of what native code calls.

    The answer is how many frames of the user's own Python the thread has, 0 where nothing was armed.
    """


@frozen
class Disarm(Request[None], name="disarm"):
    """Forget a step that is pending on this thread."""


@frozen
class AskDebugpy(Request[bool], name="debugpy"):
    """Do a request of debugpy's on this thread, without an answer of its own; whether debugpy is connected.

    Its own threads may not get the GIL.
    """

    command: str
    arguments: Any
    """The arguments as the debug adapter protocol has them."""


@frozen
class Evaluated:
    """What an expression came to."""

    text: Optional[str]  # noqa: UP045  (CPython 3.9 evaluates it)
    """``None`` where it failed."""
    problem: str
    """Why it failed, empty where it did not."""
    prints: str = ""
    """What it printed."""


NOT_EVALUATED = Evaluated(None, "the program runs without pyharness's native half, or its Python has ended")
"""The answer of a program that has no agent."""


@frozen
class Evaluate(Request[Evaluated], name="evaluate"):
    """Evaluate the user's expression in the innermost frame of theirs, or in one that is named."""

    expression: str
    file: str = ""
    line: int = 0
    nth: int = 0
    """Which of several frames at ``file`` and ``line``, the innermost first."""


@frozen
class OpPlace:
    """An op or an autograd node to stop at."""

    kind: Literal["op", "node"]
    name: str
    when: str
    """Condition on its tensors (``model/conditions/condition.py``), empty for none."""
    known_as: str
    """The debugger's name for it."""
    at_lines: bool = True
    """Whether it is the generated line that stops where one calls the op."""


def op_place(where: Where, known_as: str, *, at_lines: bool = True) -> OpPlace:
    """A place of a person's that is an op or a node."""
    if where.kind not in {"op", "node"}:
        raise ValueError(f"{where} is neither an op nor a node")
    return OpPlace("op" if where.kind == "op" else "node", where.name, where.when, known_as, at_lines)


@frozen
class SetOpPlaces(Request[None], name="op_places"):
    """Stop at exactly these ops and nodes from now on."""

    places: tuple[OpPlace, ...]


@frozen
class LinePlace:
    """A place that a person named in plain gdb."""

    number: int
    """gdb's number of its breakpoint."""
    where: str
    condition: str
    """Python, empty for none."""
    op: Optional[OpPlace] = None  # noqa: UP045  (CPython 3.9 evaluates it)
    """Where it is an op or a node, whoever calls it."""


@frozen
class SetStops(Request[None], name="stops"):
    """Stop at exactly these places from now on: gdb is alone, there is no debugpy."""

    stops: tuple[LinePlace, ...]


@frozen
class ArmStep(Request[bool], name="step"):
    """Stop where a step of this thread ends in Python; whether it can end there."""

    mode: str


@frozen
class CancelStep(Request[None], name="cancel_step"):
    """Forget the step of this thread."""
