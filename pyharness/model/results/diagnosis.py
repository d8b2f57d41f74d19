"""What ``pyharness doctor`` found: one thing that was looked at, how it stands, and what to do about it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

State = Literal["ok", "warning", "problem", "not applicable"]
SEVERITY: tuple[State, ...] = ("not applicable", "ok", "warning", "problem")
"""From the best to the worst."""


@frozen
class Diagnosis:
    """One finding."""

    area: str
    """What belongs together: ``gdb``, ``permission to trace``, ..."""
    check: str
    """What was looked at; with ``subject`` it is unique, and stays the same from version to version."""
    state: State
    seen: str
    """One sentence: what was seen."""
    remedy: str = ""
    """What to do; empty where there is nothing to be done."""
    subject: str = ""
    """The extension that it is about, by its path; empty elsewhere."""

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return dict(vars(self))


def worst(found: Iterable[Diagnosis]) -> State:
    """The state of the whole: that of its worst part."""
    return max((one.state for one in found), key=SEVERITY.index, default="not applicable")


def report(found: Sequence[Diagnosis]) -> dict[str, Any]:
    """The object that ``--json`` prints for all of it."""
    counts = Counter(one.state for one in found)
    return {
        "state": worst(found),
        "counts": {state: counts[state] for state in SEVERITY},
        "findings": [one.to_json() for one in found],
    }
