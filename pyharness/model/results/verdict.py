"""What comparing a graph with the one that it was made from found: equal, or the first node that differs and why."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.results.compiled_verdict import CompiledVerdict
    from pyharness.model.text.styled_line import Line

Symptom = Literal["value", "dtype", "shape", "device", "layout", "structure", "error", "state"]
Kind = Literal[
    "operands",
    "argument",
    "target",
    "input",
    "missing",
    "in-place",
    "parameter",
    "mode",
    "attribute",
    "error",
    "value",
    "gradient",
]
KINDS: dict[Kind, str] = {
    "operands": "its operands are swapped",
    "argument": "it is called with another constant",
    "target": "it calls something else",
    "input": "it takes another node's value",
    "missing": "it takes a value past a node that is gone",
    "in-place": "it changes a value in place that is used later",
    "parameter": "it has other parameters or buffers",
    "mode": "it runs in another mode",
    "attribute": "its module is set up otherwise",
    "error": "it fails",
    "value": "it computes something else from the same inputs",
    "gradient": "its backward computes something else",
}
"""What can be wrong with a node, and how a person says it."""


@frozen
class Sizes:
    """How far the elements of two tensors, or two numbers, are apart."""

    count: int
    """Elements that differ by more than the tolerance."""
    total: int
    largest: float
    """The largest absolute difference; infinite or NaN where only one of the two is."""
    largest_relative: float
    """The largest difference divided by the size of what was expected."""
    worst: tuple[int, ...]
    """Index of the element with the largest difference."""
    rtol: float
    atol: float


@frozen
class Around:
    """Elements around the worst one, along the last dimension."""

    start: tuple[int, ...]
    """Index of the first."""
    expected: tuple[complex, ...]
    actual: tuple[complex, ...]


@frozen
class Difference:
    """One tensor or scalar that is not what was expected."""

    path: str
    """Where in a nested value: ``[0]["logits"]``; empty where the value is not nested."""
    symptom: Symptom
    message: str
    """A clause: ``dtype is float32, not float16``."""
    sizes: Sizes | None = None
    around: Around | None = None


@frozen
class Fault:
    """A node of the transformed graph that makes the difference."""

    node: str
    op: str
    """``fx.Node.op``."""
    target: str
    """Readable target: ``torch.relu``, ``blocks.0.norm``."""
    module: str | None
    """Path of the module it was traced in."""
    file: str
    """The generated file that has its line; empty where there is none."""
    line: int | None
    origin_file: str | None
    origin_line: int | None
    kind: Kind
    reason: str
    """A sentence: what is wrong with the node, as far as that can be told."""
    difference: Difference | None
    counterpart: str | None
    """The original's node whose value it should have."""
    missing: str | None = None
    """A node of the original without counterpart, whose value it should take."""
    seen_at: str | None = None
    """For a value changed in place: the node that then took the changed value."""
    through: tuple[str, ...] = ()
    """Nodes without counterpart that lie between it and values known to be right: the fault may be in these."""
    within: str = ""
    """Path of the ``call_module`` nodes in whose graphs the node lies."""

    @property
    def symptom(self) -> Symptom:
        """How it shows."""
        return self.difference.symptom if self.difference else "error"

    @property
    def sizes(self) -> Sizes | None:
        """How far the values are apart, where they are tensors or numbers."""
        return self.difference.sizes if self.difference else None


@frozen
class Verdict:
    """Whether a transformed graph does what the original does. True and false as its ``ok``."""

    ok: bool
    first: Fault | None = None
    """The first node, in order of execution, that makes a difference; ``None`` where none does or none was found."""
    others: tuple[Fault, ...] = ()
    """Nodes that would make one even if those before them were right."""
    outputs: tuple[Difference, ...] = ()
    """What differs in the result, in the inputs that were changed in place, and in buffers."""
    gradients: tuple[Difference, ...] = ()
    """What differs in the gradients of inputs and parameters, where they were asked for."""
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.lines())

    def __repr__(self) -> str:
        return f"<Verdict: {self.headline}>"

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        if self.ok:
            return "equal"
        if self.first is None:
            found = [each.message for each in self.outputs]
            found += [f"{each.path}: {each.message}".removeprefix(": ") for each in self.gradients]
            return f"different: {found[0]}" if found else "different"
        where = f" ({self.first.file}:{self.first.line})" if self.first.file else ""
        return f"first difference at node {self.first.node}{where}: {self.first.reason}"

    def lines(self) -> Iterator[Line]:
        """The verdict as lines of text for people."""
        from pyharness.model.results.verdict_text import verdict_lines

        return verdict_lines(self)

    def check(self) -> Verdict:
        """Give this verdict back where it is ``ok``; otherwise raise ``DifferenceError``."""
        if not self.ok:
            raise DifferenceError(self)
        return self

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        data = plain(asdict(self))
        return {"headline": self.headline, **data}


class DifferenceError(HarnessError, AssertionError):
    """A transformed graph does not do what the original does; ``verdict`` says all that is known."""

    def __init__(self, verdict: Verdict | CompiledVerdict) -> None:
        super().__init__(str(verdict))
        self.verdict = verdict


def plain(value: Any) -> Any:
    """Data without what JSON has no word for: complex numbers, infinities and NaN become text."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    odd = isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value))
    return str(value) if odd else value
