"""A report of a program's end as lines: what happened, where, the stack of both languages, the other threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.text.stack_format import (
    Style,
    format_owner,
    format_stack,
    format_threads,
    function_text,
    place_text,
)
from pyharness.model.text.styled_line import Line, in_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.frames import Frame
    from pyharness.model.ranks.rank import Rank
    from pyharness.model.results.aftermath import Aftermath
    from pyharness.model.threads import ThreadStack

_VERBS = {
    "crash": "crashed",
    "exception": "raised an exception that nobody caught",
    "hang": "hangs",
    "sanitizer": "has an error",
}
PLAIN = Style()
_OVERWRITTEN = "needed for gradient computation has been modified by an inplace operation"
"""What torch says where a tensor that autograd saved is not as it was."""


def title(found: Aftermath) -> str:
    """Which program, and what became of it."""
    rank = f", rank {found.rank}" if found.rank is not None else ""
    return f"{found.name} (process {found.pid}{rank}) {_VERBS[found.kind]}"


def place(frame: Frame) -> str:
    """The function and the line of a frame."""
    where = place_text(frame)
    return f"{function_text(frame)}{f'  {where}' if where else ''}"


def head_lines(found: Aftermath) -> Iterator[Line]:
    """What happened, and where, in a few lines."""
    yield Line(title(found), "title")
    yield Line(found.what, "bad")
    if found.frame:
        yield in_parts(("in ", ""), (place(found.frame), found.frame.language))
    if found.note:
        yield Line(f"({found.note})", "dim")
    if found.kind == "exception" and _OVERWRITTEN in found.what:
        yield Line("(`pyharness run --overwritten` names the line that wrote.)", "dim")


def short_lines(found: Aftermath, width: int | None = None) -> Iterator[Line]:
    """What happened, and the stack of the thread that it happened to, without variables."""
    yield from head_lines(found)
    if found.threads:
        yield from format_stack(_without_variables(found.threads[0]), Style(width=width))
        yield from format_owner(found.threads, Style(width=width))
    yield from history_lines(found, Style(width=width))


def report_lines(found: Aftermath) -> Iterator[Line]:
    """All of it."""
    yield from head_lines(found)
    yield Line(f"at {found.time} on {found.host}, as: {' '.join(found.command)}", "dim")
    if found.traceback:
        yield Line("")
        yield from (Line(text) for text in found.traceback.rstrip("\n").split("\n"))
    for thread in found.threads[:1]:
        yield Line("")
        yield from format_threads([thread], PLAIN)
    yield from history_lines(found)
    yield from output_lines(found)
    others = found.threads[1:]
    if others:
        yield Line("")
        yield Line("The other threads", "heading")
        yield Line("")
        yield from format_threads(others, PLAIN)
    for worker in found.workers:
        yield Line("")
        yield Line(worker_title(worker), "heading")
        yield Line("")
        yield from format_threads(worker.threads, PLAIN)


def worker_title(worker: Rank) -> str:
    """Which child process it is, and why nothing of it is known."""
    return f"Child process {worker.pid} ({worker.command}){f': {worker.note}' if worker.note else ''}"


def history_lines(found: Aftermath, style: Style = PLAIN) -> Iterator[Line]:
    """The stacks of before."""
    for history in found.histories:
        yield Line("")
        yield Line(history.title, "heading")
        yield from format_stack(list(history.frames), style)


def output_lines(found: Aftermath) -> Iterator[Line]:
    """What a test had printed."""
    if found.output:
        yield Line("")
        yield Line("Captured output", "heading")
        yield from (Line(text) for text in found.output.rstrip("\n").split("\n"))


def _without_variables(thread: ThreadStack) -> list[Frame]:
    from dataclasses import replace

    return [replace(frame, variables=()) for frame in thread.frames]
