"""Commands about graphs: from node to node of generated code, the graph around, the autograd node that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError
from pyharness.model.source_map import map_of
from pyharness.model.text.source_line import short_path
from pyharness.model.text.styled_line import Line
from pyharness.model.where import Where
from pyharness.prompt.commands.going import run_to
from pyharness.prompt.registry import command
from pyharness.prompt.shown.non_finite import of_frame

if TYPE_CHECKING:
    from pyharness.model.frames import Frame
    from pyharness.model.source_map import MappedLine, SourceMap
    from pyharness.prompt.session import Session

_GRAPHS = "graphs"
_AROUND = 6
_OUTSIDE = "This is no generated code: there are no nodes here."
_ALL = "`pyharness run --nan` looks at all that ops compute."
_HOW = "Stop at a node first: `break fx:NODE`, or `break fx:MODULE.PATH`."


@command("next node", "nn", about=_GRAPHS, needs="change", repeats=True)
def next_node(session: Session, _rest: str) -> None:
    """Run on to the next node of the graph, whatever the code of this one calls."""
    found, here = _here(session)
    run_to(session, _places(found, [each for each in found.lines if each.line > here.line and each.node != here.node]))


@command("next module", "nm", about=_GRAPHS, needs="change", repeats=True)
def next_module(session: Session, _rest: str) -> None:
    """Run on to the first node that another module made."""
    found, here = _here(session)
    run_to(session, _places(found, [each for each in found.lines if each.line > here.line and _differs(each, here)]))


def _differs(each: MappedLine, here: MappedLine) -> bool:
    return each.module is not None and each.module != here.module


def _places(found: SourceMap, wanted: list[MappedLine]) -> list[Where]:
    """The next of these lines; none for the end of the graph: the caller comes next."""
    return [Where("py", file=found.file, line=each.line) for each in wanted[:1]]


def _here(session: Session) -> tuple[SourceMap, MappedLine]:
    """The graph of the frame that is looked at, and the statement at its line or before."""
    frame: Frame = session.where.shown.frame
    found = map_of(frame.file) if frame.file else None
    if found is None or not frame.line:
        raise HarnessError(_OUTSIDE, _HOW)
    before = [each for each in found.lines if each.line <= (frame.line or 0)]
    return found, (found.at(frame.line) or (before or list(found.lines))[-1])


@command("fx", about=_GRAPHS)
def fx(session: Session, _rest: str) -> None:
    """Show the nodes of the graph around here: line, node, target, module, your line."""
    found, here = _here(session)
    at = found.lines.index(here)
    shown = found.lines[max(0, at - _AROUND) : at + _AROUND + 1]
    width = max(len(each.node) for each in shown), max(len(each.target) for each in shown)
    session.screen.write_lines([Line(f"graph {found.graph}, {len(found.lines)} nodes", "heading")])
    for each in shown:
        mark = "→" if each is here else " "
        origin = f"{short_path(each.origin_file)}:{each.origin_line}" if each.origin_file else ""
        text = (
            f" {mark} {each.line:>4}  {each.node:<{width[0]}}  {each.target:<{width[1]}}  {each.module or ''}  {origin}"
        )
        session.screen.write_lines([Line(text.rstrip(), "current" if each is here else "")])


@command("node", about=_GRAPHS)
def node(session: Session, _rest: str) -> None:
    """Show which autograd nodes the thread runs, the innermost first, and where."""
    having = [(number, each.frame) for number, each in enumerate(session.where.stack) if each.frame.autograd]
    for number, frame in having:
        if frame.autograd:
            count = (
                "" if frame.autograd.sequence_number is None else f"  sequence number {frame.autograd.sequence_number}"
            )
            session.screen.write_lines([Line(f"#{number}  {frame.autograd.name}{count}")])
    position = session.where
    point = position.stop.breakpoint
    if point is not None and point.where.kind == "node":
        session.screen.write_lines([Line(f"{position.top.frame.function} runs next: {position.note}")])
    elif not having:
        raise HarnessError("This thread runs no autograd node.", "`break node:NAME` stops before one runs.")


@command("nan", about=_GRAPHS)
def nan(session: Session, _rest: str) -> None:
    """Say which tensors of the frame that is looked at have NaN or infinities."""
    tensors = of_frame(session)
    if not tensors:
        raise HarnessError("This frame has no tensors.", "`up` looks at the frame that called.")
    lines = [Line(f"{each.name} has {' and '.join(each.found)}", "bad") for each in tensors if each.found]
    clean = [each.name for each in tensors if each.is_clean]
    if clean and not lines:
        lines = [Line(f"Neither NaN nor infinities in {', '.join(clean)}.", "good")]
    lacking = [Line(f"{each.name}: {each.lacking}", "bad") for each in tensors if each.lacking]
    session.screen.write_lines([*lines, *lacking, *([Line(_ALL, "faint")] if lacking else [])])
