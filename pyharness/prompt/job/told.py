"""What a person is told of several programs as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.ranges import in_ranges
from pyharness.prompt.job.members import RANKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyharness.prompt.job.members import Members


def waits_for(current: int, standing: Sequence[int], members: Members) -> str:
    """What one that runs for long may wait for: those that stand."""
    many = len(standing) > 1
    return (
        f"{members.one} {current} runs; {members.numbered(in_ranges(standing), several=many)} stand{'s' * (not many)},"
        " and it may wait for that. Ctrl-C pauses it; `all: continue` lets all of them go on."
    )


def stopped_too(numbers: Sequence[int], members: Members) -> str:
    """Which have come to a stop while the prompt was another's."""
    many = len(numbers) > 1
    words = f"{members.numbered(in_ranges(numbers), several=many)} {'have' if many else 'has'} come to a stop, too"
    return f"{words}: `{members.one} {numbers[0]}` goes there."


def not_debugged(number: int, is_there: bool, debugged: Iterable[int], members: Members) -> UsageError:  # noqa: FBT001
    """The error of a number that names nobody who is debugged."""
    why = "is not debugged: it runs on" if is_there else "is not there"
    return UsageError(
        f"{members.one.capitalize()} {number} {why}.",
        f"Debugged are {in_ranges(debugged)}. `{members.many}` lists all.",
    )


def runs(number: int, members: Members) -> UsageError:
    """The error of a command for one that runs."""
    who = f"{members.one} {number}"
    return UsageError(f"{who.capitalize()} runs.", f"`{who}` pauses it, and goes there.")


def nobody_came(code: int, others: Iterable[int], members: Members) -> HarnessError:
    """The error of a job that has ended without anybody who was to be debugged."""
    if members is not RANKS:
        return HarnessError(
            f"The program ended with {code}, and no Python of it called in.",
            "Python has to read PYTHONPATH: no -I, -E, -S or isolated PyConfig. `pyharness debug PID` needs none.",
        )
    there = in_ranges(others)
    return HarnessError(
        f"The job ended with {code}, and no rank that is to be debugged came."
        f"{f' Ranks {there} were there.' if there else ' None called in.'}",
        "A rank is a Python with RANK in its environment, or one that calls init_process_group.",
    )


def unreached(ends: Sequence[dict[str, str | None]]) -> list[str]:
    """A sentence for each place that no process has reached; of each process, the first one's first: place → why not.

    The reason is ``None`` where it was reached.
    """
    first = ends[0] if ends else {}
    nobody = [place for place in first if not any(end.get(place, "") is None for end in ends)]
    return [f"No process reached {place}. {first[place]}".rstrip() for place in nobody]
