"""A verdict on compiled code as lines of text for people: which kernel, line, node and element, and how far off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.results.verdict_text import TITLE, difference_lines, place_lines
from pyharness.model.tensors.text import number
from pyharness.model.text.source_line import short_path
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.results.compiled_verdict import CompiledVerdict, KernelFault

_SHOWN = 5
_WIDTH = 100
"""Characters of a line of C++ that are shown."""


def compiled_verdict_lines(verdict: CompiledVerdict) -> Iterator[Line]:
    """The first fault in full, the others in a line each, then what differs in the result."""
    if verdict.ok:
        yield Line("The compiled model does what it does eagerly.", "good")
    elif verdict.first is not None:
        yield from _fault(verdict.first)
    else:
        what = "gradients" if verdict.gradients and not verdict.outputs else "results"
        yield Line(f"The {what} differ, and each kernel computes what its nodes say.", "bad")
    for other in verdict.others[:_SHOWN]:
        yield Line(f"also wrong: node {other.node} in {other.kernel}, {other.reason}", "bad")
    if len(verdict.others) > _SHOWN:
        yield Line(f"and {len(verdict.others) - _SHOWN} more", "faint")
    for title, found in (("result", verdict.outputs), ("gradient", verdict.gradients)):
        for difference in found[:_SHOWN]:
            yield from difference_lines(title, difference)
    yield Line(f"  {'compared':{TITLE}}  {_counted(verdict)}", "faint")
    for note in verdict.notes:
        yield Line(f"  {'note':{TITLE}}  {note}", "faint")
    if verdict.script:
        yield from _script(verdict)


def _counted(verdict: CompiledVerdict) -> str:
    parts = ((verdict.graphs, "graph"), (verdict.kernels, "kernel call"), (verdict.nodes, "node"))
    return ", ".join(f"{count:,} {what}{'s' * (count != 1)}" for count, what in parts)


def _fault(fault: KernelFault) -> Iterator[Line]:
    yield Line(f"The first difference is made in {fault.kernel} at node {fault.node}: {fault.reason}", "bad")
    yield Line(f"  {'kernel':{TITLE}}  {short_path(fault.file)}:{fault.line}  {_short(fault.text)}", "place")
    if fault.file != fault.wrapper:
        place = f"{short_path(fault.wrapper)}:{fault.wrapper_line}"
        yield Line(f"  {'called at':{TITLE}}  {place}  {_short(fault.wrapper_text)}", "place")
    came = f" ← {fault.captured}" if fault.captured and fault.captured != fault.node else ""
    yield Line(f"  {'node':{TITLE}}  {fault.node}{came}  {fault.target}  ({fault.graph} {fault.graph_id})")
    if fault.module is not None:
        yield Line(f"  {'module':{TITLE}}  {fault.module or '(root)'}", "place")
    yield from place_lines("made from", fault.origin_file, fault.origin_line)
    at = f"at {list(fault.element)} " if fault.element else ""
    yield Line(
        f"  {'element':{TITLE}}  {at}eager has {number(fault.expected, 9)}, compiled code {number(fault.actual, 9)}"
    )
    if fault.through:
        yield Line(f"  {'through':{TITLE}}  {', '.join(fault.through)}: the kernel has no such values", "faint")
    yield from difference_lines("differs", fault.difference)


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _script(verdict: CompiledVerdict) -> Iterator[Line]:
    script = verdict.script
    if script is None:
        return
    how = "exits with 1 while it fails" if script.fails else f"does not fail by itself: {script.said}"
    yield Line(f"  {'script':{TITLE}}  python {short_path(script.script)}  {how}")
    yield Line(f"  {'':{TITLE}}  {script.step}")
