"""The threads of all ranks beside their main ones, and their child processes; equal ones are told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.ranks.numbers import named
from pyharness.model.text.stack_format import Style, format_stack
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.ranks.job import Job
    from pyharness.model.threads import ThreadStack


def thread_lines(job: Job, width: int | None) -> Iterator[Line]:
    """Each stack with the ranks that have a thread of it, the commonest first."""
    style = Style(width=width)
    groups: dict[tuple[str, tuple[Line, ...]], list[int]] = {}
    for number, what, thread in _others(job):
        groups.setdefault((what, tuple(format_stack(thread.frames, style))), []).append(number)
    for (what, lines), numbers in sorted(groups.items(), key=lambda item: -len(item[1])):
        yield Line("")
        yield Line(f"{len(numbers)} times {what}, of {named(set(numbers))}", "title")
        yield from lines


def _others(job: Job) -> Iterator[tuple[int, str, ThreadStack]]:
    for position, rank in enumerate(job.ranks):
        number = rank.number if rank.number is not None else position
        for thread in rank.threads[1:]:
            yield number, f'thread "{thread.name}"', thread
        for worker in rank.workers:
            for thread in worker.threads[:1]:
                yield number, f"child process {worker.command}", thread
