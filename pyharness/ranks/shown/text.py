"""What ``pyharness ranks`` prints."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from pyharness.model.ranks.numbers import named
from pyharness.model.text.ranges import in_ranges
from pyharness.model.text.styled_line import Line
from pyharness.ranks.shown.tree import tree_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.ranks.job import Job
    from pyharness.model.ranks.verdict import Verdict
    from pyharness.model.text.styled_line import Style

_NARROWEST = 40
_NOTES = 5


def job_lines(job: Job, verdict: Verdict, width: int | None = None) -> Iterator[Line]:
    """The job in a line, its tree, what could not be seen, and the verdict."""
    yield title(job)
    yield from tree_lines(job, verdict.culprits, width)
    yield from _notes(job)
    yield Line("")
    style: Style = "bad" if verdict.is_fault else "good" if verdict.kind == "moves" else "warn"
    whole = said(verdict)
    for text in [whole] if width is None else textwrap.wrap(whole, max(width, _NARROWEST)):
        yield Line(text, style)


def said(verdict: Verdict) -> str:
    """The verdict as one text, its culprits first."""
    if not verdict.culprits:
        return verdict.sentence
    of = named(verdict.culprits)
    begins = verdict.sentence[:1].lower() + verdict.sentence[1:]
    said = begins if begins.startswith(of) else f"{of}. {verdict.sentence}"
    return f"culprit{'s' * (len(verdict.culprits) != 1)}: {said}"


def title(job: Job) -> Line:
    """The job in a line."""
    hosts = sorted({rank.host for rank in job.ranks})
    where = f" on {len(hosts)} hosts" if len(hosts) > 1 else ""
    count = len(job.ranks)
    held = max((rank.held for rank in job.ranks), default=0.0)
    stood = f"; each stood for at most {held * 1000:.0f} ms" if held else ""
    return Line(f"{count} rank{'s' * (count != 1)} of {job.name} (world {job.world}){where}{stood}", "title")


def _notes(job: Job) -> Iterator[Line]:
    if job.missing:
        yield Line(f"[{in_ranges(job.missing)}] not found here", "warn")
    notes: dict[str, list[int]] = {}
    for rank in job.ranks:
        if rank.number is not None and rank.record_note:
            notes.setdefault(rank.record_note, []).append(rank.number)
    for note, ranks in list(notes.items())[:_NOTES]:
        yield Line(f"[{in_ranges(ranks)}] {note}: what it waits in is read from its stack", "dim")
    versions = sorted({rank.torch for rank in job.ranks if rank.torch})
    if len(versions) > 1:
        yield Line(f"the ranks have different torches: {', '.join(versions)}", "warn")
