"""An overwritten tensor as lines of text for people: who saved it, who wrote, and the writer's stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.results.finding_text import TITLE, place_lines
from pyharness.model.results.trace import Call, origin_of
from pyharness.model.tensors.text import number
from pyharness.model.text.stack_format import Style, format_stack
from pyharness.model.text.styled_line import Line
from pyharness.model.text.styled_line import Style as LineStyle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.frames import Frame
    from pyharness.model.results.overwritten import Overwritten

_UNCOUNTED = "torch does not see it: the gradient is wrong, without an error"
_BESIDE = "the first write into this memory since then began beside the tensor: a later one may be the one that matters"
_COUNTED = "torch sees it, and ends the backward with an error"


def overwritten_lines(found: Overwritten, *, width: int | None = None, rank: int | None = None) -> Iterator[Line]:
    """The report, outermost facts first; ``rank``: whose it is, in a job of several."""
    who = "" if rank is None else f"rank {rank}: "
    yield Line(f"{who}{found.node} takes a tensor that was overwritten after it was saved.", "heading")
    yield from place_lines("saved", origin_of(found.saved), _module_of(found), str(found.info))
    yield from _written(found)
    yield from place_lines("taken at", origin_of(found.run), None)
    if found.element is not None and found.was is not None and found.now is not None:
        values = f"{number(found.was)}, now {number(found.now)}"
        yield _titled("element", f"{list(found.element)} was {values}", "bad")
    if not found.inside:
        yield _titled("note", _BESIDE)
    yield _titled("verdict", _COUNTED if found.counted else _UNCOUNTED)
    name = f" ({found.thread_name})" if found.thread_name else ""
    waiting = f", while {found.waiting} stood at these lines of Python" if found.waiting else ""
    yield _titled("thread", f"{found.thread}{name}{waiting}", "faint")
    yield Line("  stack of the write", "faint")
    for line in format_stack(found.stack, Style(width=width)):
        yield line.behind("  ")


def _written(found: Overwritten) -> Iterator[Line]:
    if found.writer is None:
        yield _titled("written", f"by {found.op or 'code that is not yours'}", "place")
        return
    aside = "in another thread" if found.waiting and found.writer.language == "python" else ""
    yield from place_lines("written", _call(found.writer), None, f"by {found.op}" if found.op else aside)
    if found.caller is not None:
        yield from place_lines("called at", _call(found.caller), None)


def _module_of(found: Overwritten) -> str | None:
    return next((call.module for call in found.saved if call.module is not None), None)


def _call(frame: Frame) -> Call:
    return Call(frame.file or "??", frame.line or 0, frame.function, node=frame.fx.node if frame.fx else None)


def _titled(title: str, text: str, style: LineStyle = "") -> Line:
    return Line(f"  {title:{TITLE}}  {text}", style)
