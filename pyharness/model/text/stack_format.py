"""Frames as lines of text: aligned, one line a frame, machinery folded to one line."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from pyharness.model.frames import Frame
from pyharness.model.frozen import frozen
from pyharness.model.plumbing import native_family, python_family, qualified_name
from pyharness.model.text.repeats import runs
from pyharness.model.text.source_line import short_path, source_line
from pyharness.model.text.styled_line import Line, in_parts

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from pyharness.model.threads import ThreadStack

MAX_FUNCTION = 46
MAX_PLACE = 44
MAX_TEXT = 80
_MIN_TEXT = 12
_BELOW = " " * 10
"""What begins a line that belongs to the frame above it."""
_HEAD, _TAIL = 150, 50
_TWICE = 2
_MOST_ALIKE = 4
"""Names and numbers that are written of threads whose stacks look the same."""


@frozen
class Style:
    """How to show a stack."""

    full: bool = False
    """Show every frame; otherwise machinery is folded."""
    width: int | None = None
    """Cut source text so that a line fits this many columns, and put notes below it; ``None`` for no limit."""


PLAIN = Style()


def format_threads(threads: Iterable[ThreadStack], style: Style = PLAIN) -> Iterator[Line]:
    """Every thread with a title; threads whose stacks look the same (a pool's idle workers) are told once."""
    groups: dict[tuple[str, str, int, tuple[Line, ...]], list[ThreadStack]] = {}
    for thread in threads:
        key = thread.signal, thread.note, thread.works_for, tuple(format_stack(thread.frames, style))
        groups.setdefault(key, []).append(thread)
    for number, ((_signal, note, _owner, lines), alike) in enumerate(groups.items()):
        if number:
            yield Line("")
        yield Line(_title(alike), "title")
        if note:
            yield Line(f"  ({note})", "dim")
        yield from lines


def format_owner(threads: Sequence[ThreadStack], style: Style = PLAIN) -> Iterator[Line]:
    """The stack of the thread for which the first one works, where it works for another."""
    owner = next((one for one in threads if one.lwp == threads[0].works_for), None)
    if owner:
        yield Line(f"  works for thread {owner.lwp}{_name(owner)}:", "dim")
        yield from format_stack([replace(frame, variables=()) for frame in owner.frames], style)


def format_stack(frames: Sequence[Frame], style: Style = PLAIN) -> list[Line]:
    """The lines of one stack, innermost frame first."""
    if not frames:
        return [Line("  (no frames)")]
    shown = [frame for position, frame in enumerate(frames) if _shown(position, frame, style)]
    widths = (_width(map(function_text, shown), MAX_FUNCTION), _width(map(place_text, shown), MAX_PLACE))
    if style.full:
        return [line for frame in frames for line in _frame_lines(frame, widths, style)]
    lines: list[Line] = []
    entries = list(_entries(frames, style))
    for each in without_repeats(entries):
        lines += [again_line(each)] if isinstance(each, str) else _entry_lines([entries[each]], widths, style)
    return _shortened(lines)


def without_repeats(entries: Sequence[Frame | str], selected: int = -1) -> Iterator[int | str]:
    """Which entries of a stack are shown, by their index, and words for those of a recursion that are not.

    Of a recursion these are the first two calls and the last one; the ``selected`` entry is shown in any case.
    """
    alike = [(_alike(entry), index == selected) for index, entry in enumerate(entries)]
    for run in runs(alike):
        behind = run.start + run.period * run.times
        if run.times == 1:
            yield from range(run.start, behind)
            continue
        yield from range(run.start, run.start + _TWICE * run.period)
        yield _again(entries[run.start : run.start + run.period], run.times)
        yield from range(behind - run.period, behind)


def again_line(words: str) -> Line:
    """The line for frames that are not shown."""
    return Line(f"{_BELOW}{words}", "dim")


def _entries(frames: Sequence[Frame], style: Style) -> Iterator[Frame | str]:
    """Frames that are shown, and words for those that are not."""
    for told, group in groupby(enumerate(frames), lambda item: _shown(item[0], item[1], style)):
        members = [frame for _position, frame in group]
        yield from members if told else [_folded(members)]


def _alike(entry: Frame | str) -> Hashable:
    """What calls at one line have in common."""
    if isinstance(entry, str):
        return entry
    return entry.language, entry.function, entry.file, entry.line, entry.fx, entry.library


def _entry_lines(entries: Iterable[Frame | str], widths: tuple[int, int], style: Style) -> Iterator[Line]:
    for entry in entries:
        if isinstance(entry, str):
            yield Line(f"{_BELOW}{entry}", "dim")
        else:
            yield from _frame_lines(entry, widths, style)


def _again(cycle: Sequence[Frame | str], times: int) -> str:
    """Words between the first two calls of a recursion and its last one."""
    shown = sum(isinstance(entry, Frame) for entry in cycle)
    above = "the frame above repeats" if shown == 1 else f"the {shown} frames above repeat"
    return f"… {above} {times - _TWICE - 1} times"


def _shortened(lines: list[Line]) -> list[Line]:
    """A recursion that has run away without a pattern is told by its two ends."""
    cut = len(lines) - _HEAD - _TAIL
    if cut <= 0:
        return lines
    return [*lines[:_HEAD], Line(f"          … {cut} more lines", "dim"), *lines[-_TAIL:]]


def _shown(position: int, frame: Frame, style: Style) -> bool:
    """The innermost frame is always shown: it says where the thread is."""
    return position == 0 or style.full or not frame.plumbing


def _width(texts: Iterable[str], limit: int) -> int:
    return max((length for length in map(len, texts) if length <= limit), default=0)


def _title(alike: Sequence[ThreadStack]) -> str:
    if len(alike) == 1:
        return thread_title(alike[0])
    names = _first(list(dict.fromkeys(f'"{thread.name}"' for thread in alike if thread.name)))
    numbers = _first([str(thread.lwp) for thread in alike])
    owner = f"  work for thread {alike[0].works_for}" if alike[0].works_for else ""
    return f"{len(alike)} threads with the same stack{' ' if names else ''}{names}: {numbers}{owner}"


def _first(words: list[str]) -> str:
    return ", ".join(words[:_MOST_ALIKE]) + (", …" if len(words) > _MOST_ALIKE else "")


def thread_title(thread: ThreadStack) -> str:
    """The thread's number and name, its signal, whether it holds the GIL, and for which one it works."""
    gil = "  holds the GIL" if thread.holds_gil else ""
    owner = f"  works for thread {thread.works_for}" if thread.works_for else ""
    return f"Thread {thread.lwp}{_name(thread)}{f'  {thread.signal}' if thread.signal else ''}{gil}{owner}"


def _name(thread: ThreadStack) -> str:
    return f' "{thread.name}"' if thread.name else ""


def _folded(frames: Sequence[Frame]) -> str:
    families = dict.fromkeys(_family(frame) for frame in frames)
    return f"… {len(frames)} frame{'s' * (len(frames) > 1)} of {', '.join(families)}"


def _family(frame: Frame) -> str:
    if frame.language == "python":
        return python_family(frame.function, frame.file) or "Python"
    return native_family(frame.function, frame.library, frame.file) or "native code"


def _frame_lines(frame: Frame, widths: tuple[int, int], style: Style) -> Iterator[Line]:
    language, notes = frame.language, notes_of(frame)
    head = f"  {language}  {function_text(frame):<{widths[0]}}"
    place = f"  {place_text(frame):<{widths[1]}}"
    room = None if style.width is None else style.width - len(head) - len(place) - 2
    beside = room is None or len(notes) <= room
    text = _cut(source_line(frame.file, frame.line), room and (room - len(notes) - 2 if notes and beside else room))
    behind = f"  {text}" if text else "", f"  {notes}" if notes and beside else ""
    if not any(behind):
        head, place = (head, place.rstrip()) if place.strip() else (head.rstrip(), "")
    yield in_parts((head, language), (place, ""), (behind[0], "dim"), (behind[1], "fx"))
    if notes and not beside:
        yield Line(f"{_BELOW}{notes}", "fx")
    for name, value in frame.variables:
        yield Line(f"{_BELOW}    {name} = {value}")


def frame_by_frame(lines: Iterable[Line]) -> list[list[Line]]:
    """The lines of a whole stack, those of each frame together."""
    frames: list[list[Line]] = []
    for line in lines:
        if not line.text.startswith(_BELOW):
            frames.append([])
        frames[-1].append(line)
    return frames


def _cut(text: str, room: int | None) -> str:
    room = MAX_TEXT if room is None else min(room, MAX_TEXT)
    if len(text) <= room:
        return text
    return text[: room - 1] + "…" if room >= _MIN_TEXT else ""


def function_text(frame: Frame) -> str:
    """The function's name: of a native one without parameters and template arguments.

    What has neither a source nor a library is no function: an op or an autograd node that a breakpoint is of.
    """
    if frame.language == "python" or not (frame.file or frame.library):
        return frame.function
    name = qualified_name(frame.function).replace("anonymous::", "") or frame.function
    return f"{name}::{{lambda}}" if "{lambda(" in frame.function else name


def place_text(frame: Frame) -> str:
    """``FILE:LINE``, or the library of a native frame whose source is not known."""
    if frame.file:
        path = frame.file.rsplit("/", 1)[-1] if frame.fx else short_path(frame.file)
        if len(path) > MAX_PLACE - 6:
            path = "…/" + "/".join(path.split("/")[-2:])
        return f"{path}:{frame.line}" if frame.line else path
    return f"in {frame.library.rsplit('/', 1)[-1]}" if frame.library else ""


def notes_of(frame: Frame) -> str:
    """What torch.fx and autograd know of the frame."""
    notes = []
    if frame.fx:
        module = "the root module" if frame.fx.module == "" else frame.fx.module
        origin = f"  {short_path(frame.fx.origin)}" if frame.fx.origin else ""
        notes.append(f"[fx: {frame.fx.node}{f' ← {module}' if module else ''}{origin}]")
    if frame.autograd:
        number = frame.autograd.sequence_number
        name = frame.autograd.name.removeprefix("torch::autograd::")
        notes.append(f"[autograd: {name}{f' #{number}' if number is not None else ''}]")
    return " ".join(notes)
