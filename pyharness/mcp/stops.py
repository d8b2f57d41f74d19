"""Where a program stands, as a client gets it: reason, five lines, folded stack, what changed, what it printed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from pyharness.mcp.registry import Answer, Told
from pyharness.model.results.aftermath_text import place
from pyharness.model.text.stack_format import Style, format_stack
from pyharness.model.text.visible import in_one_line, visible
from pyharness.model.transcript import Ended
from pyharness.session.transcript_text import source_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.mcp.debugged import Debugged
    from pyharness.model.frames import Frame
    from pyharness.prompt.session import Session

_FRAMES = 10
_VALUES = 10
_WIDTH = 110
_PRINTED = 500
"""Characters of what the program printed."""


class Place(BaseModel):
    """A frame, and what torch.fx knows of its line."""

    language: Literal["python", "native"]
    function: str
    file: str | None = None
    line: int | None = None
    node: str = Field(default="", description="The torch.fx node of a generated line or of a kernel's.")
    module: str | None = Field(default=None, description="The path of the module that made the node.")
    origin: str | None = Field(default=None, description="FILE:LINE of the user's source that made the node.")


class StopTold(Told):
    """Where the program of a session is."""

    session: str
    state: Literal["stopped", "running", "ended"]
    reason: str = Field(default="", description="Why it stopped: breakpoint, step, signal, exception, pause, ...")
    note: str = Field(
        default="", description="What there is to say of the stop: the signal, the exception, the address."
    )
    at: Place | None = None
    thread: int = Field(default=0, description="The thread that stopped.")
    source: list[str] = Field(default=[], description="Lines around; the one that runs next is marked.")
    stack: list[str] = Field(default=[], description="Frames of both languages, innermost first, without plumbing.")
    changed: dict[str, str] = Field(default={}, description="Variables with another value than at the stop before.")
    output: str = Field(default="", description="What the program printed since the answer before: the end of it.")
    exit_code: int | None = Field(default=None, description="Of a program that ended; negative for a signal.")
    pid: int = Field(default=0, description="The program's process, while there is one.")


async def answer(debugged: Debugged) -> Answer:
    """Where the program is now, with all that its session has shown since the last answer."""
    if debugged.is_moving:
        return _running(debugged)
    stack, shown = await asyncio.wrap_future(debugged.ask(_stack))
    session, stop = debugged.session, debugged.session.stop
    printed = debugged.printed.new(_PRINTED) if debugged.printed else ""
    if session.position is None or stop is None:
        return _over(debugged, shown, printed)
    told = StopTold(
        session=debugged.name,
        state="stopped",
        reason=stop.reason,
        note=_cut(stop.note, 2 * _WIDTH),
        at=_place(stop.frame),
        thread=stop.thread,
        source=[_cut(line.text, _WIDTH) for line in source_lines(stop.frame)],
        stack=stack[:_FRAMES],
        changed={each.name: _cut(each.value, 90) for each in session.arrivals.changed[:_VALUES]},
        output=printed,
        pid=debugged.pid,
    )
    frames = [f"   stack of thread {stop.thread}:", *(f"   {line}" for line in stack)] if len(stack) > 1 else []
    shown = shown or f"{stop.reason}: {_cut(place(stop.frame), 2 * _WIDTH)}"  # another call has told it in full
    return Answer("\n".join([shown, *frames, *_printed_lines(printed)]), told)


def _running(debugged: Debugged) -> Answer:
    printed = debugged.printed.new(_PRINTED) if debugged.printed else ""
    told = StopTold(session=debugged.name, state="running", output=printed, pid=debugged.pid)
    how = 'It runs: go with how="wait" waits on for its next stop, how="pause" stops it wherever it is.'
    return Answer("\n".join(filter(None, [debugged.screen.take(), how, *_printed_lines(printed)])), told)


def _over(debugged: Debugged, shown: str, printed: str) -> Answer:
    code = debugged.session.exit_code
    told = StopTold(session=debugged.name, state="ended", output=printed, exit_code=code)
    return Answer("\n".join(filter(None, [shown or str(Ended(code)), *_printed_lines(printed)])), told)


def _stack(session: Session) -> list[str]:
    """The frames of the user's code, a line for each."""
    if session.position is None:
        return []
    frames = [shown.frame for _, shown in session.position.rows]
    return [visible(line.text) for line in format_stack(frames, Style(full=True, width=_WIDTH))]


def _place(frame: Frame) -> Place:
    fx = frame.fx
    return Place(
        language=frame.language,
        function=_cut(frame.function, _WIDTH),
        file=frame.file,
        line=frame.line,
        node=fx.node if fx else "",
        module=fx.module if fx else None,
        origin=fx.origin if fx else None,
    )


def _cut(text: str, most: int) -> str:
    text = visible(in_one_line(text))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _printed_lines(printed: str) -> Iterator[str]:
    if printed.strip():
        yield "   the program printed:"
        yield from (f"   | {line}" for line in printed.rstrip().splitlines())
