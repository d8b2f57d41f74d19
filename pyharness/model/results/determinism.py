"""Whether a transform gives the same code in every run: the first line that differs, and sets that it iterates over."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pyharness.model.frozen import frozen
from pyharness.model.text.source_line import short_path
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from collections.abc import Iterator


@frozen
class LineDifference:
    """The first line of generated code that two runs do not have in common."""

    line: int
    """1-based."""
    first: str
    """The line in one run; empty past the end of its code."""
    second: str
    first_seed: int
    """PYTHONHASHSEED of that run."""
    second_seed: int
    function: str = "forward"


@frozen
class SetIteration:
    """A place in the source where the order of a set decides something."""

    file: str
    line: int
    function: str
    text: str
    """What is iterated over."""
    how: str
    """``for loop``, ``list()``, ``pop()``."""
    remedy: str


@frozen
class Determinism:
    """What running a transform several times found. True and false as its ``ok``."""

    ok: bool
    """No two runs differ. Sets that are iterated over can be harmless; ``strict`` counts them, too."""
    transform: str
    runs: int
    seeds: tuple[int, ...]
    difference: LineDifference | None = None
    sets: tuple[SetIteration, ...] = ()

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.lines())

    @property
    def strict(self) -> bool:
        """No two runs differ, and no set is iterated over."""
        return self.ok and not self.sets

    def lines(self) -> Iterator[Line]:
        """What was found as lines of text for people."""
        yield self._outcome()
        if self.difference:
            for seed, text in (
                (self.difference.first_seed, self.difference.first),
                (self.difference.second_seed, self.difference.second),
            ):
                yield Line(f"  PYTHONHASHSEED={seed:<4}  {text.strip() or '(no such line)'}")
        for each in self.sets:
            where = f"{short_path(each.file)}:{each.line}"
            yield Line(f"{where} in {each.function}: {each.how} over the set {each.text}", "place")
            yield Line(f"  {each.remedy}", "faint")

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return asdict(self)

    def _outcome(self) -> Line:
        runs = f"{self.runs} runs under {len(self.seeds)} hash seeds"
        if self.difference:
            return Line(f"{self.transform} gives other code in other runs, from line {self.difference.line} on.", "bad")
        return Line(f"{self.transform} gives the same code in {runs}.", "good")
