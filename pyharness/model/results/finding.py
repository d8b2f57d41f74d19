"""The first bad value of a program: which op or autograd node made it, from what, and who called it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.results.trace import Call, Kind, TensorInfo, origin_of

if TYPE_CHECKING:
    from pyharness.model.frames import Frame

ValueKind = Literal["nan", "inf", "large", "denormal"]
KINDS: dict[ValueKind, str] = {"nan": "NaN", "inf": "Inf", "large": "value beyond the limit", "denormal": "denormal"}
"""What can be bad, and how a person says it."""


@frozen
class ValueStatistics:
    """Counts of a tensor's elements, and of the finite ones the smallest, the largest and the mean.

    Of complex tensors real and imaginary parts count, each for itself.
    """

    count: int
    nan: int
    positive_infinity: int
    negative_infinity: int
    large: int
    denormal: int
    minimum: float | None
    """``None`` where none is finite."""
    maximum: float | None
    mean: float | None
    first: tuple[int, ...] | None
    """Index of the first bad element; of a sparse tensor, among its values."""

    @property
    def infinite(self) -> int:
        """Infinities of both signs."""
        return self.positive_infinity + self.negative_infinity

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {**vars(self), "mean": self.mean if self.mean is None or math.isfinite(self.mean) else None}


@frozen
class CheckedTensor:
    """An input or output, as it was when the op or node had ended."""

    name: str
    """The name of the argument; the number of an output or a gradient."""
    info: TensorInfo
    bad: tuple[ValueKind, ...]
    """Which of the wanted kinds it has."""
    statistics: ValueStatistics

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            "name": self.name,
            **self.info.to_json(),
            "bad": list(self.bad),
            "statistics": self.statistics.to_json(),
        }


@frozen
class KernelPlace:
    """Where in a kernel of torch.compile's a value became bad."""

    kernel: str
    file: str | None
    line: int | None
    """Line of the kernel's file; ``None`` where it is not known which line made it, as where there is no map."""
    text: str
    wrapper: str
    wrapper_line: int
    wrapper_text: str
    node: str | None
    """The node of the graph that inductor lowered whose value it is."""
    target: str | None
    captured: str | None
    """The call that the node came from, as Dynamo names that."""
    module: str | None
    origin_file: str | None
    origin_line: int | None
    element: tuple[int, ...] | None
    """The first element of the node's value that is bad."""
    given: dict[str, float]
    """What that element was computed from, by node, where the kernel loaded or computed it beside."""

    @property
    def origin(self) -> Call | None:
        """The user's line."""
        if self.origin_file is None:
            return None
        return Call(self.origin_file, self.origin_line or 0, "", self.module)


@frozen
class Finding:
    """One op or node, and its first bad output."""

    kind: Kind
    name: str
    """``aten::log``, ``SqrtBackward0``: as torch names it."""
    overload: str
    made: bool
    """Whether its inputs had no value of the kind; otherwise it is the first that was seen to receive one."""
    values: tuple[ValueKind, ...]
    """What it made, or received."""
    within: tuple[str, ...]
    """The ops that called it, innermost first."""
    node: str | None
    """For an op: the autograd node that it ran in."""
    why: str
    """For a node that received the value: where that may come from."""
    calls: tuple[Call, ...]
    """Who called the op, innermost first; for a node, who started the backward pass."""
    forward: tuple[Call, ...]
    """For a node, and an op in one: who called the op that made the node; empty where that was not seen."""
    approximate: bool
    """``forward`` is of the op nearest to the node's making, not of one that was seen to make it."""
    made_from: Call | None
    """Where ``origin`` is a generated line: the user's line that torch says it was made from."""
    inputs: tuple[CheckedTensor, ...]
    outputs: tuple[CheckedTensor, ...]
    stack: tuple[Frame, ...]
    """The native frames of the thread down to the innermost Python frame, then its Python frames."""
    graph_task: int | None
    thread: int
    """Kernel thread id."""
    thread_name: str
    number: int
    """How many ops and nodes the thread had begun since the search did, this one included; of kernels, how many."""
    kernel: KernelPlace | None = None
    """For a kernel of torch.compile's: where in it."""
    of_all_ranks: bool = False
    """Whether a collective gave it, which was looked at when its work was done: other ranks have a part in it."""

    @property
    def origin(self) -> Call | None:
        """The user's line that it is for: of an op its caller, of a node the caller of what made the node."""
        if self.kernel is not None and self.kernel.origin is not None:
            return self.kernel.origin
        return origin_of(self.forward if self.kind == "node" and self.forward else self.calls)

    @property
    def module(self) -> str | None:
        """Path of the innermost module around that line; ``None`` outside of any."""
        if self.kernel is not None and self.kernel.node is not None:
            return self.kernel.module
        calls = self.forward if self.kind == "node" else self.calls or self.forward
        return next((call.module for call in calls if call.module is not None), None)

    @property
    def headline(self) -> str:
        """What was found, in one line."""
        where = f" at {self.origin.file}:{self.origin.line}" if self.origin else ""
        module = f", module {self.module or '(root)'}" if self.module is not None else ""
        node = f"{self.kernel.node} in " if self.kernel is not None and self.kernel.node else ""
        return f"{node}{self.name} {self.deed}{where}{module}"

    @property
    def deed(self) -> str:
        """``made the first NaN``."""
        verb = "brought" if self.of_all_ranks else "made" if self.made else "received"
        return f"{verb} the first {' and '.join(KINDS[value] for value in self.values)}"

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            **vars(self),
            "module": self.module,
            "origin": self.origin.to_json() if self.origin else None,
            "calls": [call.to_json() for call in self.calls],
            "forward": [call.to_json() for call in self.forward],
            "made_from": self.made_from.to_json() if self.made_from else None,
            "inputs": [tensor.to_json() for tensor in self.inputs],
            "outputs": [tensor.to_json() for tensor in self.outputs],
            "stack": [frame.to_json() for frame in self.stack],
            "kernel": vars(self.kernel) if self.kernel else None,
        }


class NonFiniteError(HarnessError, RuntimeError):
    """A bad value was found where ``find_nan`` looked for one; ``finding`` says all that is known."""

    finding: Finding | None
    """``None`` where another process made the error anew from its text alone, as a ``DataLoader`` does."""

    def __init__(self, found: Finding | str) -> None:
        if isinstance(found, str):
            super().__init__(found)
            self.finding = None
            return
        super().__init__(f"{found.headline}.", "Its `finding` has the rest, and so has the report of action='report'.")
        self.finding = found

    def __reduce__(self) -> tuple[type[NonFiniteError], tuple[Finding | str]]:
        return NonFiniteError, (self.finding or self.message,)
