"""What a search for the first bad pass of a list found: which, why, the smallest graph, the script that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.results.verdict import Verdict
    from pyharness.model.text.styled_line import Line


@frozen
class Shrunk:
    """The smallest graph found on which the pass fails as it did."""

    calls: int
    """Nodes that compute; inputs, parameters and the output aside."""
    tried: int
    """How many smaller graphs were tried."""
    code: str
    """The generated code of the shrunk graph, without the statements that free values."""
    change: tuple[str, ...]
    """What the pass makes of that code, as the lines of a unified diff."""
    node: str | None
    """The first node that differs after the pass."""


@frozen
class Script:
    """A folder that shows the fault without the rest of the program."""

    file: str
    """To run: it exits with 1 while the pass fails, with 0 once it does not."""
    fails: bool
    """Whether it did fail when it was run to see."""
    said: str
    """The last line that the script printed."""


@frozen
class BadPass:
    """The first pass of a list after which a good module is bad."""

    name: str
    index: int
    """From 0."""
    total: int
    """How many passes there are."""
    reason: str
    """What the check said, or what the pass raised."""
    raised: bool
    """Whether the pass itself raised."""
    runs: int
    """How many times passes and check were run to find it."""
    node: str | None
    """The first node that differs after it, where the check knows one."""
    calls: int
    """Nodes of the graph before it that compute."""
    change: tuple[str, ...]
    """What it makes of the generated code, around the first bad node: lines of a unified diff."""
    verdict: Verdict | None = None
    origin: str | None = None
    """``FILE:LINE`` of the pass's function or class, where it is one of Python's."""
    hidden_by: str | None = None
    """A later pass after which the module is good again."""
    failures: int = 1
    """How many of ``samples`` runs failed: fewer than all where the pass makes another graph each time."""
    samples: int = 1
    shrunk: Shrunk | None = None
    script: Script | None = None
    notes: tuple[str, ...] = ()
    module: Any = None
    """The shrunk GraphModule, else the one before the pass."""
    inputs: tuple[Any, ...] = ()
    """What ``module`` is called with."""

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.lines())

    def __repr__(self) -> str:
        return f"<BadPass: {self.headline}>"

    @property
    def headline(self) -> str:
        """The result in one line."""
        return f"the first bad pass is {self.name}, {self.index + 1} of {self.total}: {self.reason}"

    def lines(self) -> Iterator[Line]:
        """The result as lines of text for people."""
        from pyharness.model.results.bad_pass_text import bad_pass_lines

        return bad_pass_lines(self)

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            **{name: value for name, value in vars(self).items() if name not in {"module", "inputs"}},
            "verdict": self.verdict.to_json() if self.verdict is not None else None,
            "shrunk": vars(self.shrunk) if self.shrunk else None,
            "script": vars(self.script) if self.script else None,
        }
