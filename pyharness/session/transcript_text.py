"""A transcript for people: each entry becomes lines with a style, which the command line prints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.model.stops import Stop
from pyharness.model.text.source_line import all_lines, short_path
from pyharness.model.text.stack_format import Style as StackStyle
from pyharness.model.text.stack_format import format_stack, function_text, place_text
from pyharness.model.text.styled_line import Line, Style
from pyharness.model.transcript import Begun, Checked, Ended, Logged, Printed, without_addresses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.frames import Frame, FxPlace

_AROUND = 2
_INDENT = "   "
_CALLER = re.compile(r"(?<=, called from ).+(?=:\d+$)")
"""The file in the note of a stop at an op or a node."""


@frozen
class Manner:
    """How much to show."""

    full: bool = False
    """Plumbing frames too."""
    raw: bool = False
    """Addresses as they are."""
    width: int | None = None
    """Columns that a line of a stack may take; ``None`` for no limit."""


def entry_lines(
    entry: Begun | Printed | Stop | Checked | Logged | Ended, number: int, manner: Manner
) -> Iterator[Line]:
    """The lines of one entry; ``number`` is that of the latest stop, which is told in parts."""
    if isinstance(entry, Begun):
        yield from stop_lines(entry.stop, number)
    elif isinstance(entry, Printed):
        yield from _printed_lines(entry, manner)
    elif isinstance(entry, Stop):
        yield from _stack_lines(entry, manner)
    elif isinstance(entry, Checked):
        yield from _checked_lines(entry)
    elif isinstance(entry, Logged):
        first, *more = (entry.text if manner.raw else without_addresses(entry.text)).splitlines() or [""]
        yield Line(f"{_place(entry.place)}  {first}")
        yield from (Line(f"{_INDENT}{line}") for line in more)
    else:
        yield Line(str(entry), "faint" if entry.exit_code in {0, None} else "bad")


def stop_lines(stop: Stop, number: int) -> Iterator[Line]:
    """Where the program stands, and why, with the lines around."""
    frame = stop.frame
    parts = (stop.reason, frame.language, function_text(frame), place_text(frame))
    yield Line(f"{number}  {' · '.join(filter(None, parts))}", "heading")
    if frame.fx:
        yield Line(f"{_INDENT}{fx_text(frame.fx)}", "place")
    for text in _CALLER.sub(_shortened, stop.note).splitlines():
        yield Line(f"{_INDENT}{text}", "bad" if stop.reason == "signal" or stop.condition_failed else "place")
    for line in source_lines(frame):
        yield line.behind(_INDENT)


def _printed_lines(printed: Printed, manner: Manner) -> Iterator[Line]:
    shown = printed.text if manner.raw else without_addresses(printed.text)
    yield from _valued(f"{_INDENT}{printed.expression} = ", shown, "bad" if "<error: " in printed.text else "")


def _stack_lines(stop: Stop, manner: Manner) -> Iterator[Line]:
    if stop.stack:
        yield Line(f"{_INDENT}stack", "faint")
        for line in format_stack(stop.stack, StackStyle(manner.full, manner.width)):
            yield line.behind(_INDENT)
    yield Line("")


def _place(text: str) -> str:
    """A place with the bare name of its file."""
    kind, _, rest = text.partition(":")
    return f"{kind}:{rest.rpartition('/')[2]}"


def _shortened(path: re.Match[str]) -> str:
    return short_path(path[0])


def _checked_lines(checked: Checked) -> Iterator[Line]:
    if checked.holds:
        yield Line(f"{_INDENT}✓ as expected (line {checked.line})", "good")
    else:
        yield Line(f"{_INDENT}✗ not as expected (line {checked.line})", "bad")
    width = max((len(mismatch.key) for mismatch in checked.mismatches), default=0)
    for mismatch in checked.mismatches:
        yield from _valued(f"{_INDENT}  {mismatch.key:<{width}}  wanted ", mismatch.wanted, "bad")
        yield from _valued(f"{_INDENT}  {'':<{width}}  got    ", without_addresses(mismatch.got), "bad")
    yield Line("")


def _valued(prefix: str, text: str, style: Style) -> Iterator[Line]:
    """``text`` behind ``prefix``, its further lines below its first."""
    for number, line in enumerate(text.splitlines() or [""]):
        yield Line(f"{' ' * len(prefix) if number else prefix}{line}".rstrip(), style)


def fx_text(place: FxPlace) -> str:
    """``fx: NODE ← MODULE, ORIGIN``."""
    module = {None: "", "": " ← the root module"}.get(place.module, f" ← {place.module}")
    return f"fx: {place.node}{module}{f', {short_path(place.origin)}' if place.origin else ''}"


def source_lines(frame: Frame, first: int = 0, last: int = 0) -> Iterator[Line]:
    """Lines of a frame's source, its own marked; those around it where none are named."""
    if not frame.file or not frame.line:
        return
    lines = all_lines(frame.file)
    if not lines:
        return
    first, last = max(1, first or frame.line - _AROUND), min(len(lines), last or frame.line + _AROUND)
    width = len(str(last))
    for number in range(first, last + 1):
        current = number == frame.line
        text = f"{'→' if current else ' '} {number:>{width}} │ {lines[number - 1].expandtabs(4)}".rstrip()
        yield Line(text, "current" if current else "faint")
