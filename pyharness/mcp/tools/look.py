"""``look``: what there is where the program stands, and the rest of long answers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pyharness.mcp.registry import Answer, Asked, Told, tool
from pyharness.model.errors import DebuggerLostError, HarnessError
from pyharness.model.text.visible import visible
from pyharness.prompt.shown.values import text_of

if TYPE_CHECKING:
    from pyharness.mcp.service import Service
    from pyharness.prompt.session import Session

Show = Literal["source", "locals", "args", "node", "graph", "nan", "threads", "returned", "frame"]
_LINES = {"source": "list", "graph": "fx", "returned": "retval"}
_VALUE = 700
"""Characters of a value among the data; the text has it whole."""
_VALUES = 8


class Look(Asked):
    """What to look at."""

    session: str = Field(default="", description="The session; the only one if not given.")
    expressions: list[str] = Field(
        default=[],
        max_length=50,
        description="Evaluated in the frame, in its language; py: or native: before one chooses. Python's may be"
        " statements, and change the program.",
    )
    show: list[Show] = Field(
        default=[],
        description="source, locals, args; node: the autograd nodes that run; graph: the torch.fx nodes around; nan:"
        " tensors of the frame with NaN or Inf; threads; returned: what the last step returned.",
    )
    lines: str = Field(default="", pattern=r"^(\d{1,7}(\s*[,-]\s*\d{1,7})?)?$", description="Of source: 40 or 40, 60.")
    frame: int = Field(default=0, ge=0, description="The frame, by its number in the stack, in place of the innermost.")
    thread: int = Field(default=0, ge=0, description="Another thread, by its number in threads.")
    cursor: str = Field(default="", description="The next page of an answer that was too long; alone.")


class LookTold(Told):
    """What was asked for."""

    values: dict[str, str] = Field(default={}, description="Each expression, and its value or <error: ...>.")
    frame: str = Field(default="", description="The frame that this is of.")


@tool("look", "Look at a stop", LookTold, harm="runs")
async def look(service: Service, asked: Look) -> Answer:
    """Show values, variables, source and graph where the program stands; or, with cursor, more of an answer."""
    if asked.cursor:
        text, cursor = service.pages.next(asked.cursor)
        return Answer(text, LookTold(cursor=cursor))
    debugged = service.named(asked.session)
    debugged.require_alive()
    (values, frame), shown = await service.asked(debugged, partial(_look, asked))
    text = "\n".join(filter(None, [shown, *(f"{name} = {value}" for name, value in values.items())]))
    short = {name: value if len(value) <= _VALUE else f"{value[:_VALUE]}…" for name, value in values.items()}
    return Answer(text or "Nothing is there.", LookTold(values=dict(list(short.items())[:_VALUES]), frame=frame))


def _look(asked: Look, session: Session) -> tuple[dict[str, str], str]:
    """The values, and the frame that they are of."""
    before, values = session.where, {}
    try:
        if asked.thread:
            session.do(f"thread {asked.thread}")
        if asked.frame or not (asked.thread or asked.expressions or asked.show):
            session.do(f"frame {asked.frame}" if asked.frame else "frame")
        for each in asked.show:
            session.listed = 0
            session.do(f"{_LINES.get(each, each)}{f' {asked.lines}' if each == 'source' and asked.lines else ''}")
        for expression in asked.expressions:
            values[expression] = _value(session, expression)
        shown = session.where.shown.frame
    finally:
        session.position = before
        before.unselect()
    return values, visible(f"{shown.language} {shown.function}")[:200]


def _value(session: Session, expression: str) -> str:
    """The text of an expression; what is wrong with one does not keep the others from being shown."""
    try:
        return visible(text_of(session, expression))
    except DebuggerLostError:
        raise
    except HarnessError as error:
        return visible(f"<error: {error}>")
