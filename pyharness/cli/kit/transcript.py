"""Plays a plan and shows it: live for people, as one object for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.cli.kit import output
from pyharness.cli.kit.engine_progress import have_engine
from pyharness.model.transcript import Begun, Failure, Transcript
from pyharness.session.run import run
from pyharness.session.transcript_text import Manner, entry_lines

if TYPE_CHECKING:
    from pyharness.model.errors import HarnessError
    from pyharness.session.plan import Plan
    from pyharness.session.run import Entry

_STDERR = 2


def play(plan: Plan, *, as_json: bool, raw: bool) -> int:
    """Play it and show what came; the exit status."""
    transcript = _play_silently(plan) if as_json else _play_aloud(plan, raw=raw)
    output.progress.clear()
    if as_json:
        output.write_json(transcript.to_json(raw=raw))
    return transcript.status


def failure(error: HarnessError) -> dict[str, Any]:
    """What ``--json`` prints where the plan could not even be made: a transcript with nothing but the error."""
    return Transcript(error=Failure(error.message, error.remedy)).to_json()


def _play_silently(plan: Plan) -> Transcript:
    def show(entry: Entry) -> None:
        if isinstance(entry, Failure):
            output.error(entry.message, entry.remedy)

    return run(plan, show, stdout=_STDERR, progress=output.progress, notes=output.note, prepare=_prepare)


def _play_aloud(plan: Plan, *, raw: bool) -> Transcript:
    manner = Manner(plan.full, raw, output.columns())
    count = 0

    def show(entry: Entry) -> None:
        nonlocal count
        count += isinstance(entry, Begun)
        if isinstance(entry, Failure):
            output.error(entry.message, entry.remedy)
        else:
            output.write_lines(entry_lines(entry, count, manner))

    return run(plan, show, progress=output.progress, notes=output.note, prepare=_prepare)


def _prepare(plan: Plan) -> None:
    """Have the engine, if a place needs it, before the program starts."""
    if plan.wants_engine:
        plan.target.check()
        have_engine(plan.target.python, plan.target.env)
