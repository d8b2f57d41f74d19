"""What every benchmark returns: rows of medians, checks against limits; and the timing that interleaves subjects."""

from __future__ import annotations

import random
import statistics
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True)
class Row:
    """One subject on one case."""

    case: str
    subject: str
    median: float
    unit: str
    runs: int


@dataclass(frozen=True)
class Check:
    """A number that must stay at or below its limit (``at_least``: at or above).

    ``None`` is one that could not be measured: it does not hold.
    """

    what: str
    measured: float | None
    limit: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the measured number keeps the limit."""
        if self.measured is None:
            return False
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {"what": self.what, "measured": self.measured, "limit": self.limit, "holds": self.holds}


@dataclass(frozen=True)
class Table:
    """The answer of one benchmark."""

    benchmark: str
    rows: tuple[Row, ...]
    checks: tuple[Check, ...]
    not_available: tuple[str, ...] = ()
    """A line for each peer that is missing from the rows, and why."""

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            "benchmark": self.benchmark,
            "rows": [asdict(row) for row in self.rows],
            "checks": [check.to_json() for check in self.checks],
            "not_available": list(self.not_available),
        }

    def lines(self) -> Iterator[str]:
        """The table as a terminal shows it."""
        widths = [max([len(getattr(row, key)) for row in self.rows] or [0]) for key in ("case", "subject")]
        for row in self.rows:
            yield f"{row.case:{widths[0]}}  {row.subject:{widths[1]}}  {row.median:12.4g} {row.unit}  ({row.runs} runs)"
        yield from self.not_available
        for check in self.checks:
            sign = "≥" if check.at_least else "≤"
            mark = "holds" if check.holds else "MISSED"
            measured = "not measured" if check.measured is None else f"{check.measured:.3g}"
            yield f"{mark:6}  {check.what}: {measured} (limit {sign} {check.limit:g})"


def interleave(subjects: Mapping[str, Callable[[], object]], runs: int, warmups: int = 1) -> dict[str, list[float]]:
    """Seconds of every run of every subject, taken in turns."""
    return take_turns({name: partial(_timed, subject) for name, subject in subjects.items()}, runs, warmups)


def take_turns(subjects: Mapping[str, Callable[[], float]], runs: int, warmups: int = 1) -> dict[str, list[float]]:
    """What the subjects measured of themselves, in turns so that a noisy moment hits all subjects alike.

    The order is another one in each round, the same in each run: no subject always follows the same neighbour, with
    what that one has left in caches and in the heap.
    """
    names = list(subjects)
    order = random.Random(0)  # noqa: S311
    measured: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(-warmups, runs):
        for name in order.sample(names, len(names)):
            value = subjects[name]()
            if turn >= 0:
                measured[name].append(value)
    return measured


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def rows_of(case: str, seconds: Mapping[str, list[float]], unit: str = "ms") -> tuple[Row, ...]:
    """A row with the median for each subject that ``interleave`` timed."""
    scale = {"s": 1.0, "ms": 1e3, "us": 1e6}[unit]
    return tuple(
        Row(case, subject, statistics.median(times) * scale, unit, len(times)) for subject, times in seconds.items()
    )


def ratio(seconds: Mapping[str, list[float]], subject: str, peer: str) -> float:
    """The median, over the rounds, of ``subject`` over ``peer``: both are timed within one moment of the machine."""
    return statistics.median(ours / its for ours, its in zip(seconds[subject], seconds[peer], strict=True))
