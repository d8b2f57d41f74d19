"""What a person is told of a job as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError
from pyharness.model.text.ranges import in_ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def waits_for(current: int, standing: Sequence[int]) -> str:
    """What a rank that runs for long may wait for: those that stand."""
    many = len(standing) > 1
    return (
        f"rank {current} runs; rank{'s' * many} {in_ranges(standing)} stand{'s' * (not many)}, and"
        " it may wait for that. Ctrl-C pauses it; `all: continue` lets all of them go on."
    )


def stopped_too(ranks: Sequence[int]) -> str:
    """Which ranks have come to a stop while the prompt was another's."""
    many = len(ranks) > 1
    words = f"rank{'s' * many} {in_ranges(ranks)} {'have' if many else 'has'} come to a stop, too"
    return f"{words}: `rank {ranks[0]}` goes there."


def nobody_came(code: int, others: Iterable[int]) -> HarnessError:
    """The error of a job that has ended without a rank that was to be debugged."""
    there = in_ranges(others)
    return HarnessError(
        f"The job ended with {code}, and no rank that is to be debugged came."
        f"{f' Ranks {there} were there.' if there else ' None called in.'}",
        "A rank is a Python with RANK in its environment, or one that calls init_process_group.",
    )
