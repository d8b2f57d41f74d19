"""What a thread does, from its stack: in a collective, waiting for something else, ending, or computing."""

from __future__ import annotations

import re
from itertools import islice, takewhile
from pathlib import PurePath
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.model.text.source_line import short_path
from pyharness.model.text.stack_format import function_text
from pyharness.model.user_code import is_users_frame
from pyharness.ranks.blame.rules import COLLECTIVE_FILE, COMPILES, FILE, GIL, INPUT, RULES, WAITS_FOR_A_TIME, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyharness.model.frames import Frame
    from pyharness.model.ranks.rank import Rank
    from pyharness.model.threads import ThreadStack


AT_AN_END = {"crashed", "raised"}
"""Kinds whose text ends with what somebody else has said."""


@frozen
class Activity:
    """What a thread does, and where."""

    kind: str
    """A word of `RULES`, or ``crashed``, ``raised``, ``stopped``, ``traced``, ``ended``, ``unreadable``, ``parallel``,
    ``computes``, ``stands``.
    """
    text: str
    """A predicate, as ``waits for a mutex``."""
    place: str = ""
    """The innermost lines of the user's: native, then Python; empty where there is none."""

    @property
    def sentence(self) -> str:
        """The predicate with its place."""
        joint = ", in" if self.kind in AT_AN_END else " in"
        return f"{self.text}{joint} {self.place}" if self.place else self.text


_STATES = {
    "stopped": "is stopped by a signal (Ctrl-Z or SIGSTOP)",
    "traced": "is held by a debugger",
    "ended": "has ended",
    "unreadable": "cannot be read",
}


_PYTHON = re.compile(r"(lib)?python3")
_MOST = 2
"""Other threads that are told of."""
_FOR_WORKERS = {"loader", "child", "queue"}
_MOST_WORKERS = 3
_ENDING = {"ends", "prints an exception"}


def of_rank(rank: Rank) -> Activity:
    """What the main thread of a rank does; what the process as a whole is comes first."""
    if crashed := next((one for one in rank.threads if one.signal), None):
        owner = (one.frames for one in rank.threads if one.lwp == crashed.works_for)
        return Activity("crashed", f"has crashed: {crashed.signal}", _place(crashed.frames + next(owner, ())))
    if rank.state == "raised":
        return Activity("raised", f"has raised {rank.raised}", _place(rank.main.frames) if rank.main else "")
    if rank.state in _STATES:
        seen = of_thread(rank, rank.main) if rank.main else None
        return Activity(rank.state, _STATES[rank.state], seen.place if seen else "")
    seen = of_thread(rank, rank.main) if rank.main else Activity("unreadable", _STATES["unreadable"])
    if rank.raised and seen.kind in _ENDING:
        return Activity(seen.kind, f"has raised {rank.raised}, and {seen.text}", seen.place)
    return seen


def of_workers(workers: Sequence[Rank], waits: Activity) -> str:
    """What child processes do, behind what the process does that waits for them; empty where it waits for none."""
    if waits.kind not in _FOR_WORKERS:
        return ""
    return "".join(f"{', ' if one else '; '}{text}" for one, text in enumerate(map(_worker, workers[:_MOST_WORKERS])))


def _worker(worker: Rank) -> str:
    return f"process {worker.pid} {of_rank(worker).sentence}"


def of_thread(rank: Rank, thread: ThreadStack) -> Activity:
    """What one thread of a rank does."""
    place = _place(thread.frames)
    inner = _inner(thread.frames)
    natives = [function_text(frame) for frame in inner if frame.language == "native"]
    pythons = [f"{frame.file}:{frame.function}" for frame in inner if frame.language == "python"]
    found = _without_symbols(rank, thread, inner)
    if rule := next((one for one in RULES if one is found or one.fits(natives, pythons)), None):
        more = _with_whom(rank, thread, rule.kind) + _within(thread.frames, rule.kind)
        return Activity(rule.kind, rule.text + more, place)
    busy, workers = dict(rank.busy), [one for one in rank.threads if inner and one.works_for == thread.lwp]
    if workers and not any(busy.get(one.lwp) for one in workers):
        return Activity("parallel", f"waits for threads that work for it ({_told(rank, workers)})", place)
    if workers or busy.get(thread.lwp):
        return Activity("computes", "computes" + _within(thread.frames, ""), place)
    return Activity("stands", f"stands in {natives[0]}" if natives else "stands", place)


def _without_symbols(rank: Rank, thread: ThreadStack, inner: Sequence[Frame]) -> Rule | None:
    """What a thread does within an interpreter whose functions have no names; ``None`` where nothing tells."""
    natives = [frame for frame in inner if frame.language == "native"]
    if thread.lwp in rank.reads_input and FILE.fits(map(function_text, natives), ()):
        return INPUT
    waits = next((at for at, one in enumerate(natives) if WAITS_FOR_A_TIME.search(function_text(one))), len(natives))
    is_interpreters = any(_PYTHON.match(PurePath(one.library or "").name) for one in natives[waits + 1 : waits + 2])
    return GIL if is_interpreters and any(one.holds_gil for one in rank.threads if one is not thread) else None


def _with_whom(rank: Rank, thread: ThreadStack, kind: str) -> str:
    """Who has what the thread waits for, where that is known; for a join, all other threads in the user's code."""
    others = [one for one in rank.threads if one.lwp != thread.lwp]
    if kind == "gil":
        holder = next((one for one in others if one.holds_gil), None)
        return f", which thread {holder.lwp} holds: it {of_thread(rank, holder).sentence}" if holder else ""
    if kind == "join":
        said = _told(rank, (one for one in others if users_frames(one.frames)))
        return f" ({said})" if said else ""
    return ""


def _told(rank: Rank, threads: Iterable[ThreadStack]) -> str:
    """What the first of some threads do."""
    return " and ".join(f"thread {one.lwp} {of_thread(rank, one).sentence}" for one in islice(threads, _MOST))


def _within(frames: tuple[Frame, ...], kind: str) -> str:
    """What the user's own code is called by, where that matters: a backend of torch.compile's."""
    pythons = [f"{frame.file}:{frame.function}" for frame in frames if frame.language == "python"]
    within = kind != COMPILES.kind and COMPILES.fits((), pythons)
    return " while torch.compile compiles" if within else ""


def _inner(frames: tuple[Frame, ...]) -> list[Frame]:
    """The frames that the innermost line of the user's has called."""
    return list(takewhile(lambda frame: not is_users_frame(frame), frames))


def users_frames(frames: tuple[Frame, ...]) -> list[Frame]:
    """The frames of the user's, innermost first."""
    return [frame for frame in frames if is_users_frame(frame)]


def _place(frames: tuple[Frame, ...]) -> str:
    own = users_frames(frames)
    native = next(takewhile(lambda frame: frame.language == "native", own), None)
    python = next((frame for frame in own if frame.language == "python"), None)
    said = [f"{function_text(frame)} ({where(frame)})" for frame in (native, python) if frame]
    return ", ".join(said)


def where(frame: Frame) -> str:
    """``FILE:LINE`` of a frame, as short as it can be said."""
    return f"{short_path(frame.file or '')}:{frame.line}" if frame.line else short_path(frame.file or "")


def called(frames: tuple[Frame, ...]) -> str:
    """The function of ``torch.distributed`` that the user's innermost line has called; empty for none."""
    inner = [
        frame
        for frame in _inner(frames)
        if frame.language == "python" and re.search(COLLECTIVE_FILE + "$", frame.file or "")
    ]
    return inner[-1].function if inner else ""
