"""A finding as lines of text for people: where, from what, and the stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.results.finding import KINDS
from pyharness.model.results.trace import origin_of
from pyharness.model.tensors.text import number
from pyharness.model.text.source_line import known_line, short_path
from pyharness.model.text.stack_format import Style, format_stack
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyharness.model.results.finding import CheckedTensor, Finding, KernelPlace, ValueStatistics
    from pyharness.model.results.trace import Call

TITLE = 9
"""Columns of what a place is."""
_NEAREST = "the op that came next: none was seen to make the node"
"""What a report says of a C++ autograd Function that Python called without an op around it."""


def finding_lines(finding: Finding, *, width: int | None = None, rank: int | None = None) -> Iterator[Line]:
    """The report, outermost facts first; ``rank``: whose it is, in a job of several."""
    who = "" if rank is None else f"rank {rank}: "
    yield Line(f"{who}{_what(finding)}", "heading")
    if rank is not None and (finding.of_all_ranks or not (finding.made or finding.why)):
        yield Line("  Another rank may have sent it: all ranks need --nan, and the first to make it says so.")
    yield from _places(finding)
    for title, tensors in (("input", finding.inputs), ("output", finding.outputs)):
        yield from _tensors(title, tensors)
    yield Line(f"  {'thread':{TITLE}}  {_thread(finding)}", "faint")
    yield Line("  stack", "faint")
    for line in format_stack(finding.stack, Style(width=width)):
        yield line.behind("  ")


def _what(finding: Finding) -> str:
    values = " and ".join(KINDS[value] for value in finding.values)
    name = f"{finding.name}.{finding.overload}" if finding.overload else finding.name
    inside = "".join(f", called by {outer}" for outer in finding.within)
    inside += f", in {finding.node}" if finding.node else ""
    if finding.kernel is not None:
        return _what_of_kernel(finding, values)
    if finding.of_all_ranks:
        why = finding.why or "no op that was seen made it"
        return f"The first {values} came with {name}{inside}: {why}."
    if finding.made:
        return f"The first {values} was made by {name}{inside}: its inputs had none."
    source = finding.why or "no op that was seen made it"
    return f"The first {values} came to {name}{inside} in its inputs ({source})."


def _what_of_kernel(finding: Finding, values: str) -> str:
    place = finding.kernel
    node = f"node {place.node} in " if place is not None and place.node else ""
    if not finding.made:
        return f"The first {values} came to the kernel {finding.name} in its inputs (no op that was seen made it)."
    inside = f" ({finding.why})" if finding.why else ""
    return f"The first {values} was made by {node}the kernel {finding.name}: its inputs had none{inside}."


def _places_in_kernel(place: KernelPlace) -> Iterator[Line]:
    if place.node is not None:
        target = f"  ({place.target})" if place.target else ""
        came = f" ← {place.captured}" if place.captured and place.captured != place.node else ""
        yield Line(f"  {'node':{TITLE}}  {place.node}{came}{target}", "place")
        yield from place_lines("made from", place.origin, place.module)
    if place.file is not None:
        where = f"{short_path(place.file)}:{place.line}" if place.line else short_path(place.file)
        yield Line(f"  {'kernel':{TITLE}}  {where:40}  {place.text}".rstrip(), "place")
    where = f"{short_path(place.wrapper)}:{place.wrapper_line}"
    yield Line(f"  {'called at':{TITLE}}  {where:40}  {place.wrapper_text}".rstrip(), "place")
    if place.element is not None:
        given = ", ".join(f"{name} = {number(value)}" for name, value in place.given.items())
        yield Line(f"  {'element':{TITLE}}  {place.node}{list(place.element)}{f' of {given}' if given else ''}", "bad")


def _places(finding: Finding) -> Iterator[Line]:
    if finding.kernel is not None:
        yield from _places_in_kernel(finding.kernel)
        return
    nearest = _NEAREST if finding.approximate else ""
    if finding.kind == "node":
        yield from place_lines("forward", finding.origin if finding.forward else None, finding.module, nearest)
        yield from place_lines("run by", origin_of(finding.calls), None)
        return
    yield from place_lines("line", finding.origin, finding.module)
    yield from place_lines("made from", finding.made_from, None)
    if finding.node:
        yield from place_lines("forward", origin_of(finding.forward), None, nearest)


def place_lines(title: str, call: Call | None, module: str | None, note: str = "") -> Iterator[Line]:
    """A line of source under a title, and below it what is known of the place; nothing for no place."""
    if call is None:
        return
    where = f"{short_path(call.file)}:{call.line}" + (f" in {call.function}" if call.function else "")
    text = known_line(call.file, call.line)
    yield Line(f"  {title:{TITLE}}  {where:40}  {text}".rstrip(), "place")
    parts = [f"module {module or '(root)'}"] if module is not None else []
    parts += [f"fx node {call.node}"] if call.node else []
    parts += [note] if note else []
    if parts:
        yield Line(f"  {'':{TITLE}}  {', '.join(parts)}", "place")


def _tensors(title: str, tensors: Sequence[CheckedTensor]) -> Iterator[Line]:
    names = [tensor.name for tensor in tensors]
    infos = [str(tensor.info) for tensor in tensors]
    widths = max(map(len, names), default=0), max(map(len, infos), default=0)
    for tensor, name, info in zip(tensors, names, infos, strict=True):
        text = f"  {title:{TITLE}}  {name:{widths[0]}}  {info:{widths[1]}}  {_contents(tensor)}"
        yield Line(text, "bad" if tensor.bad else "")


def _contents(tensor: CheckedTensor) -> str:
    return "empty" if 0 in tensor.info.shape else _statistics(tensor.statistics)


def _statistics(values: ValueStatistics) -> str:
    counts = (
        (values.nan, "NaN"),
        (values.positive_infinity, "+Inf"),
        (values.negative_infinity, "-Inf"),
        (values.large, "beyond the limit"),
        (values.denormal, "denormal"),
    )
    parts = [f"{count:,} {name}" for count, name in counts if count]
    text = f"{', '.join(parts)} of {values.count:,}" if parts else ""
    if values.first is not None:
        text += f", the first at {list(values.first)}"
    if values.minimum is not None and values.maximum is not None and values.mean is not None:
        finite = f"{number(values.minimum)} to {number(values.maximum)}, mean {number(values.mean)}"
        text = f"{text}; finite: {finite}" if text else finite
    return text or "not looked at"


def _thread(finding: Finding) -> str:
    name = f" ({finding.thread_name})" if finding.thread_name else ""
    task = f", backward pass {finding.graph_task}" if finding.graph_task is not None else ""
    what = "kernel" if finding.kernel is not None else "op or node"
    return f"{finding.thread}{name}, {what} {finding.number:,} of it{task}"
