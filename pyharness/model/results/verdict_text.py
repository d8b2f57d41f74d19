"""A verdict as lines of text for people: which node, where, how far off, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.tensors.text import number
from pyharness.model.text.source_line import short_path, source_line
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.results.verdict import Around, Difference, Fault, Sizes, Verdict

TITLE = 9
"""Columns of what a line is about."""
_SHOWN = 5
"""Differences of the result that are shown."""


def verdict_lines(verdict: Verdict) -> Iterator[Line]:
    """The first fault in full, the others in a line each, then what differs in the result."""
    if verdict.ok:
        yield Line("The transformed graph does what the original does.", "good")
    elif verdict.first is None:
        what = "gradients" if verdict.gradients else "results"
        yield Line(f"The {what} differ, and no node was found that makes the difference.", "bad")
    else:
        yield from _fault(verdict.first)
    for other in verdict.others:
        yield Line(f"also wrong: node {other.node}, {other.reason}", "bad")
    for title, found in (("result", verdict.outputs), ("gradient", verdict.gradients)):
        for difference in found[:_SHOWN]:
            yield from difference_lines(title, difference)
        if len(found) > _SHOWN:
            yield Line(f"  {'':{TITLE}}  and {len(found) - _SHOWN} more", "faint")
    for note in verdict.notes:
        yield Line(f"  {'note':{TITLE}}  {note}", "faint")


def _fault(fault: Fault) -> Iterator[Line]:
    inside = f" in the graph of {fault.within}" if fault.within else ""
    yield Line(f"The first difference is made by node {fault.node}{inside}: {fault.reason}", "bad")
    yield Line(f"  {'node':{TITLE}}  {fault.op} {fault.target}")
    if fault.module is not None:
        yield Line(f"  {'module':{TITLE}}  {fault.module or '(root)'}", "place")
    yield from place_lines("generated", fault.file, fault.line)
    yield from place_lines("made from", fault.origin_file, fault.origin_line)
    if fault.counterpart and fault.counterpart != fault.node:
        yield Line(f"  {'original':{TITLE}}  node {fault.counterpart}")
    if fault.through:
        yield Line(f"  {'through':{TITLE}}  {', '.join(fault.through)}: the original has no such values", "faint")
    if fault.difference:
        yield from difference_lines("differs", fault.difference)


def place_lines(title: str, file: str | None, line: int | None) -> Iterator[Line]:
    """A line of a file, if there is one."""
    if file and line:
        yield Line(f"  {title:{TITLE}}  {short_path(file)}:{line}  {source_line(file, line)}".rstrip(), "place")


def difference_lines(title: str, difference: Difference) -> Iterator[Line]:
    """How far a value is off, and the elements around the worst one."""
    path = f"{difference.path}: " if difference.path else ""
    counted = difference.sizes is not None and difference.symptom == "value" and bool(difference.sizes.worst)
    if not counted:
        yield Line(f"  {title:{TITLE}}  {path}{difference.message}")
    if difference.sizes:
        start = f"{title:{TITLE}}  {path}" if counted else f"{'':{TITLE}}  "
        yield Line(f"  {start}{_sizes(difference.sizes)}")
    if difference.around and difference.sizes:
        yield from _around(difference.around, difference.sizes)


def _sizes(sizes: Sizes) -> str:
    at = f" at {list(sizes.worst)}" if sizes.worst else ""
    share = f"{sizes.count:,} of {sizes.total:,} element{'s' * (sizes.total != 1)}"
    errors = f"absolute {number(sizes.largest)}, relative {number(sizes.largest_relative)}"
    return f"{share}; at most {errors}{at} (rtol {sizes.rtol:g}, atol {sizes.atol:g})"


def _around(around: Around, sizes: Sizes) -> Iterator[Line]:
    """Expected above actual, in columns, the worst one marked."""
    rows = [[number(value, 6) for value in values] for values in (around.expected, around.actual)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    start = f"from {list(around.start)}" if around.start else ""
    for title, row in zip(("original", "is"), rows, strict=True):
        text = "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        yield Line(f"  {'':{TITLE}}  {title:8}  {text}  {start}".rstrip())
    if sizes.worst and around.start and len(widths) > 1:
        column = sizes.worst[-1] - around.start[-1]
        before = sum(widths[:column]) + 2 * column
        yield Line(f"  {'':{TITLE}}  {'':8}  {' ' * before}{'^' * widths[column]}", "bad")
