"""A report as one HTML page: threads and frames, of each its source and its variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.host.regular_file import read_text
from pyharness.model.results.aftermath_text import title, worker_title
from pyharness.model.text.source_line import lines_of
from pyharness.model.text.stack_format import function_text, notes_of, place_text, thread_title
from pyharness.report.single_page import single_page

if TYPE_CHECKING:
    from pyharness.model.frames import Frame
    from pyharness.model.results.aftermath import Aftermath, History
    from pyharness.model.threads import ThreadStack

_SCRIPTS = (
    "page/units.js",
    "page/theme.js",
    "page/hits.js",
    *(f"aftermath_page/{name}.js" for name in ("threads", "search", "keys")),
    "page/keyboard.js",
    "aftermath_page/main.js",
)
"""In the order of loading."""
_AROUND = 6
"""Lines of a source that are shown before and behind a frame's own."""


def page(found: Aftermath) -> str:
    """The whole file."""
    return single_page(
        "aftermath_page",
        ["page/page.css", "aftermath_page/aftermath.css"],
        _SCRIPTS,
        title=f"{title(found)} · pyharness",
        search="function, file, variable",
        data=_data(found),
    )


def _data(found: Aftermath) -> dict[str, Any]:
    about, others = found.threads[:1], found.threads[1:]
    workers = [_thread(thread, worker_title(worker)) for worker in found.workers for thread in worker.threads[:1]]
    facts = (f"at {found.time} on {found.host}", f"as: {' '.join(found.command)}", found.note)
    return {
        "program": found.name,
        "summary": title(found),
        "what": found.what,
        "traceback": "" if found.kind == "sanitizer" else found.traceback,  # a page of addresses: it is in the text
        "facts": [fact for fact in facts if fact],
        "threads": [*map(_thread, about), *map(_history, found.histories), *map(_thread, others), *workers],
    }


def _thread(thread: ThreadStack, title: str = "") -> dict[str, Any]:
    return {
        "title": title or thread_title(thread),
        "note": thread.note,
        "frames": [_frame(frame) for frame in thread.frames],
    }


def _history(history: History) -> dict[str, Any]:
    """A stack of before, shown as a thread's."""
    return {"title": history.title, "note": "", "frames": [_frame(frame) for frame in history.frames]}


def _frame(frame: Frame) -> dict[str, Any]:
    return {
        "language": frame.language,
        "function": function_text(frame),
        "place": place_text(frame),
        "library": frame.library or "",
        "notes": notes_of(frame),
        "line": frame.line,
        "source": [] if frame.plumbing else _source(frame),
        "plumbing": frame.plumbing,
        "variables": [list(each) for each in frame.variables],
    }


def _source(frame: Frame) -> list[tuple[int, str]]:
    if not frame.file or not frame.line:
        return []
    try:
        lines = lines_of(read_text(frame.file))
    except OSError:
        return []
    first, last = max(1, frame.line - _AROUND), min(len(lines), frame.line + _AROUND)
    return [(number, lines[number - 1]) for number in range(first, last + 1)]
