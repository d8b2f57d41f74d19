"""Plays a plan and shows it: live for people, as one object for programs."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyharness.cli.kit import output
from pyharness.cli.kit.engine_progress import have_engine
from pyharness.host.exit_status import of_program
from pyharness.model.text.styled_line import Line
from pyharness.model.transcript import Begun, Failure, Printed, Transcript
from pyharness.session.run import run
from pyharness.session.transcript_text import Manner, entry_lines

if TYPE_CHECKING:
    from pyharness.debugger.starting.job import JobCommand
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


def play_on_ranks(command: JobCommand, plan: Plan, *, as_json: bool, raw: bool) -> int:
    """Play it on ranks of a job and show what came; the exit status."""
    from pyharness.debugger.api.job import Job, RankOptions
    from pyharness.session.on_ranks import run_on_ranks

    shown = _RanksShown(Manner(plan.full, raw, output.columns()), as_json=as_json)
    options = RankOptions(plan.include, notes=output.note, crashes=True, eval_timeout=plan.eval_timeout)
    with Job(replace(command, stdout=_STDERR if as_json else None), options) as job:
        of_each = replace(plan, exit_code=None)  # what a file says of the end it says of the job
        made = run_on_ranks(job, command.ranks, of_each, shown.show, output.note)
        if plan.kill:
            job.kill()
        code = job.wait()
    if as_json:
        ranks = {str(rank): transcript.to_json(raw=raw) for rank, transcript in made.items()}
        output.write_json({"ranks": ranks, "exit_code": None if plan.kill else code})
    elif not made:
        output.error("The job had no ranks.", "A rank has RANK in its environment, or calls init_process_group.")
    # A rank that the launcher has ended has failed in nothing: the status is the job's.
    failed = [transcript.failure for transcript in made.values() if transcript.failure]
    if failed or plan.kill:
        return next(iter(failed), 0)
    if plan.exit_code is None or not made:
        return of_program(code) or int(not made)
    if code != plan.exit_code:
        output.error(f"The job ended with {code}; line {plan.exit_code_line} of the file expects {plan.exit_code}.")
    return int(code != plan.exit_code)


class _RanksShown:
    """What ranks come to, as it comes: with a heading where another one has."""

    def __init__(self, manner: Manner, *, as_json: bool) -> None:
        self._manner = manner
        self._silent = as_json
        self._lock = threading.Lock()
        self._last: int | None = None
        self._counts: dict[int, int] = {}
        self._begun: dict[int, list[Line]] = {}
        """By rank the first lines of a stop that is still looked at: it is shown in one piece."""

    def show(self, rank: int, entry: Entry) -> None:
        """Show one thing; from the rank's thread."""
        with self._lock:
            if isinstance(entry, Failure):
                output.error(f"rank {rank}: {entry.message}", entry.remedy)
            elif not self._silent:
                self._counts[rank] = count = self._counts.get(rank, 0) + isinstance(entry, Begun)
                lines = [*self._begun.pop(rank, []), *entry_lines(entry, count, self._manner)]
                if isinstance(entry, (Begun, Printed)):
                    self._begun[rank] = lines
                else:
                    head = [Line(f"rank {rank}", "heading")] if rank != self._last else []
                    self._last = rank
                    output.write_lines([*head, *lines])


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
