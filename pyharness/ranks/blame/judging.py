"""The verdict on a job: who came not, who came with something else, who waits in a circle, or that it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.model.ranks.numbers import named
from pyharness.model.ranks.verdict import Verdict
from pyharness.ranks.blame.activity import AT_AN_END, Activity, called, of_rank, of_workers
from pyharness.ranks.blame.circles import circle
from pyharness.ranks.blame.mismatch import mismatches
from pyharness.ranks.blame.waits import waits_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.model.ranks.job import Job
    from pyharness.model.ranks.rank import Rank
    from pyharness.ranks.blame.mismatch import Mismatch
    from pyharness.ranks.blame.waits import Wait

_PATIENCE = 2.0
"""Seconds that a rank may be late, whatever was usual."""
_LONGER = 10.0
"""Seconds that one may be late that does something: a busy machine is no hang."""
_UNDER_WAY = {"computes", "stands", "parallel", "compiles", "file", "network"}
_TIMES = 3.0
"""How many times the longest gap between two calls so far it may be late."""
_AT_MOST = 3
"""Ranks of which it is told what each does."""
_FOR_GOOD = {"crashed", "raised", "stopped", "traced", "ended", "gone", "prints an exception", "ends"}
"""What a rank does that no waiting helps against."""
_OF_DDP = "/torch/nn/parallel/distributed.py"


def judge(job: Job) -> Verdict:
    """The verdict, from what was read alone; the same for a job that was read from files."""
    known = {rank.number: rank for rank in job.ranks if rank.number is not None}
    waits = [wait for wait in waits_of(job) if not known[wait.rank].moved]
    for found in mismatches(waits, known):
        return _came_otherwise(found, known)
    blocked = _by_rank(wait for wait in waits if wait.missing)
    if blocked:
        return _absent(blocked, known)
    return _nobody_missing(job, known, waits)


def _by_rank(waits: Iterable[Wait]) -> dict[int, Wait]:
    """One wait of each rank, the longest, with all ranks that it lacks: several calls of it may not be over."""
    found: dict[int, Wait] = {}
    for wait in sorted(waits, key=lambda wait: -wait.seconds):
        first = found.setdefault(wait.rank, wait)
        found[wait.rank] = replace(first, missing=tuple(dict.fromkeys((*first.missing, *wait.missing))))
    return dict(sorted(found.items()))


def _came_otherwise(found: Mismatch, known: dict[int, Rank]) -> Verdict:
    what = found.wait.what.partition(" ")[2]
    text = (
        f"{_capital(named(found.odd))} came to {what} with {found.odd_text},"
        f" where {named(found.others)} {_has(found.others)} {found.other_text}."
    )
    if any(_in_ddp(known[rank]) for rank in found.others) and not any(_in_ddp(known[rank]) for rank in found.odd):
        text += (
            " The others reduce gradients of DistributedDataParallel:"
            f" {named(found.odd)} had fewer batches, or a parameter that got no gradient."
        )
    return Verdict("mismatch", text, found.odd, tuple(sorted({*found.odd, *found.others})))


def _in_ddp(rank: Rank) -> bool:
    """Whether the main thread is in the backward of torch.nn.parallel.DistributedDataParallel."""
    frames = rank.main.frames if rank.main else ()
    return any("c10d::Reducer" in frame.function or (frame.file or "").endswith(_OF_DDP) for frame in frames)


def _absent(blocked: dict[int, Wait], known: dict[int, Rank]) -> Verdict:
    roots = sorted({rank for wait in blocked.values() for rank in wait.missing if rank not in blocked})
    moving = [rank for rank in roots if rank in known and known[rank].moved]
    if moving and len(moving) == len(roots):
        return Verdict("moves", f"{_capital(named(moving))} {_is(moving)} on the way: nobody hangs.")
    roots = [rank for rank in roots if rank not in moving]
    if not roots:
        return _crossed(blocked, known)
    waiting = tuple(sorted(_that_wait_for(roots, blocked)))
    first = next(wait for wait in blocked.values() if set(wait.missing) & set(roots))
    doing = {rank: _doing(rank, known) for rank in roots}
    text = f"{_capital(named(roots))} never came to {first.what}. {_what_they_do(doing)}"
    if _may_come(waiting, blocked, doing):
        return Verdict("behind", _behind(roots, first, doing), (), waiting)
    return Verdict(
        "absent",
        f"{text} {_capital(named(waiting))} {_wait(waiting)} for {_it(roots)}{_since(blocked, waiting)}.",
        tuple(roots),
        waiting,
    )


def _crossed(blocked: dict[int, Wait], known: dict[int, Rank]) -> Verdict:
    """Each waits for another one that waits."""
    found = circle({rank: wait.missing for rank, wait in blocked.items()})
    told = [f"rank {rank} in {blocked[rank].what} for rank {after}{_at(known[rank])}" for rank, after in found]
    ranks = tuple(sorted(rank for rank, _ in found))
    if max((blocked[rank].seconds for rank in ranks), default=0.0) < _PATIENCE:
        return Verdict(
            "behind", f"{_capital(named(ranks))} wait for each other for now: {'; '.join(told)}. Look again.", (), ranks
        )
    return Verdict(
        "crossed", f"{_capital(named(ranks))} wait for each other: {'; '.join(told)}.", ranks, tuple(sorted(blocked))
    )


def _that_wait_for(roots: list[int], blocked: dict[int, Wait]) -> set[int]:
    """The ranks that wait for one of ``roots``, or for a rank that does."""
    held = set(roots)
    while more := {rank for rank, wait in blocked.items() if rank not in held and held & set(wait.missing)}:
        held |= more
    return held - set(roots)


def _doing(number: int, known: dict[int, Rank]) -> tuple[Activity, str]:
    """What a rank that is waited for does, and what its workers do where it waits for them."""
    if number not in known:
        return Activity("gone", "was not found: it has ended, or runs on another host"), ""
    rank = known[number]
    seen = of_rank(rank)
    return seen, of_workers(rank.workers, seen)


def _what_they_do(doing: dict[int, tuple[Activity, str]]) -> str:
    if len(doing) == 1:
        return "".join(f"It {seen.sentence}{more}." for seen, more in doing.values())
    said = [f"Rank {rank} {seen.sentence}{more}." for rank, (seen, more) in list(doing.items())[:_AT_MOST]]
    rest = len(doing) - _AT_MOST
    return " ".join([*said, *([f"{rest} more did not come either."] if rest > 0 else [])])


def _may_come(waiting: tuple[int, ...], blocked: dict[int, Wait], doing: dict[int, tuple[Activity, str]]) -> bool:
    """Whether it is too early to call it a hang."""
    if any(seen.kind in _FOR_GOOD for seen, _ in doing.values()):
        return False
    patience = _LONGER if any(seen.kind in _UNDER_WAY for seen, _ in doing.values()) else _PATIENCE
    waited = max((blocked[rank].seconds for rank in waiting), default=0.0)
    usual = max((blocked[rank].longest for rank in waiting), default=0.0)
    return waited < max(patience, _TIMES * usual)


def _behind(roots: list[int], wait: Wait, doing: dict[int, tuple[Activity, str]]) -> str:
    usual = f"; the longest gap before was {wait.longest:.1f} s" if wait.longest else ""
    return (
        f"{_capital(named(roots))} {_has(roots)} not come to {wait.what} yet. {_what_they_do(doing)}"
        f" {_waited(wait)}{usual}: that may be no hang. Look again."
    )


def _waited(wait: Wait) -> str:
    if not wait.seconds:
        return "How long the others have waited is not known"
    return f"The others have waited for {wait.seconds:.1f} s"


def _nobody_missing(job: Job, known: dict[int, Rank], waits: list[Wait]) -> Verdict:
    """Nobody waits for a rank that is known to lack."""
    if any(rank.moved for rank in job.ranks):
        return Verdict("moves", "The job runs: ranks called collectives during the look.")
    if found := _stuck_inside(known, waits):
        return found
    inside = [number for number, rank in known.items() if of_rank(rank).kind == "collective"]
    outside = {number: _doing(number, known) for number in known if number not in inside}
    unrecorded = all(rank.record_note for rank in known.values())
    if inside and outside and unrecorded:
        first = known[inside[0]].main
        what = called(first.frames) if first else ""
        parts = f"{_capital(named(inside))} {_wait(inside)} in {what or 'a collective'}; {named(outside)} did not come."
        text = f"{parts} {_what_they_do(outside)}"
        return Verdict("absent", text, tuple(outside), tuple(inside), by_stacks=True)
    return _nobody_waits(job)


def _nobody_waits(job: Job) -> Verdict:
    if failed := [rank for rank in job.ranks if of_rank(rank).kind in AT_AN_END]:
        return _failed(failed)
    if not job.ranks:
        return Verdict("unknown", "There is no rank to look at.")
    computes = any(rank.busy for rank in job.ranks)
    if inside := [rank.number for rank in job.ranks if rank.number is not None and of_rank(rank).kind == "collective"]:
        whom = "for whom cannot be told: it may be a message, or a call that torch does not record"
        others = "Others compute" if computes else "None computes"
        text = f"{_capital(named(inside))} {_wait(inside)} in a call of torch.distributed, {whom}. {others}."
        return Verdict("moves" if computes else "alone", text, (), tuple(inside))
    if computes:
        return Verdict("moves", "No rank waits for another one: they compute.")
    return Verdict("alone", "No rank waits for another one as far as can be told, and none computes.")


def _failed(failed: list[Rank]) -> Verdict:
    """What a core file of one rank shows, or a process that is none: nobody is there who could wait for it."""
    said = [
        f"{f'Rank {rank.number}' if rank.number is not None else rank.command or f'Process {rank.pid}'}"
        f" {of_rank(rank).sentence}."
        for rank in failed[:_AT_MOST]
    ]
    rest = [f"{len(failed) - _AT_MOST} more have failed, too."] if len(failed) > _AT_MOST else []
    numbers = tuple(rank.number for rank in failed if rank.number is not None)
    return Verdict("failed", " ".join([*said, *rest]), numbers)


def _stuck_inside(known: dict[int, Rank], waits: list[Wait]) -> Verdict | None:
    """All have come, and one cannot go on: it is stopped, or has ended."""
    over = {rank: _doing(rank, known) for rank in known if of_rank(known[rank]).kind in _FOR_GOOD}
    stuck = [wait for wait in waits if wait.rank not in over]
    if not over or not stuck:
        return None
    return Verdict(
        "absent",
        f"All ranks have come to {stuck[0].what}. {_what_they_do(over)}",
        tuple(over),
        tuple(sorted(wait.rank for wait in stuck)),
    )


def _at(rank: Rank) -> str:
    place = of_rank(rank).place
    return f", in {place}" if place else ""


def _since(blocked: dict[int, Wait], waiting: tuple[int, ...]) -> str:
    seconds = max((blocked[rank].seconds for rank in waiting), default=0.0)
    return f", for {seconds:.0f} s" if seconds >= 1 else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _has(ranks: object) -> str:
    return "has" if len(ranks) == 1 else "have"  # type: ignore[arg-type]


def _is(ranks: object) -> str:
    return "is" if len(ranks) == 1 else "are"  # type: ignore[arg-type]


def _wait(ranks: object) -> str:
    return "waits" if len(ranks) == 1 else "wait"  # type: ignore[arg-type]


def _it(ranks: list[int]) -> str:
    return "it" if len(ranks) == 1 else "them"
