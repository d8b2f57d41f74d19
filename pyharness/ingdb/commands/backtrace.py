"""ph-bt: the merged stack in gdb's own terminal."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import terminal
from pyharness.ingdb.prompt.registry import command
from pyharness.ingdb.stack import backtrace
from pyharness.model.errors import UsageError, nearest
from pyharness.model.text.stack_format import Style, format_owner, format_threads
from pyharness.protocol.mi import MAX_FRAMES

if TYPE_CHECKING:
    from pyharness.model.threads import ThreadStack

_OPTIONS = {"-a": "--all", "-f": "--full", "-l": "--locals"}


@command("ph-bt", gdb.COMMAND_STACK)
def ph_bt(argument: str) -> None:
    """The stack of both languages: Python frames, native frames, FX nodes, autograd nodes.

    Behind a thread that no Python has called is the one for which it works, such as OpenMP's.

    ph-bt [-a|--all] [-f|--full] [-l|--locals] [LIMIT]
    --all: every thread. --full: also the frames of the interpreter, the dispatcher and pybind11.
    --locals: local variables of the frames shown. LIMIT: at most so many native frames.
    """
    options, limit = _parse(shlex.split(argument))
    style = _style("--full" in options)
    if "--all" in options:
        threads = backtrace.owned(backtrace.all_threads(limit, variables="--locals" in options))
        terminal.write_lines(format_threads(threads, style))
        return
    shown = backtrace.thread_stack(None, limit, variables="--locals" in options)
    threads = [shown] if _has_python(shown) else _with_others(shown, limit)
    terminal.write_lines([*format_threads(threads[:1], style), *format_owner(threads, style)])


def _has_python(thread: ThreadStack) -> bool:
    return any(frame.language == "python" for frame in thread.frames)


def _with_others(shown: ThreadStack, limit: int) -> list[ThreadStack]:
    """A thread that no Python has called, and all others: it may work for one of them."""
    others = (one for one in backtrace.all_threads(limit) if one.lwp != shown.lwp)
    return backtrace.owned([shown, *others])


def _parse(words: list[str]) -> tuple[set[str], int]:
    options, limit = set(), MAX_FRAMES
    for word in words:
        if word.isdigit() and int(word) > 0:
            limit = int(word)
        elif _OPTIONS.get(word, word) in _OPTIONS.values():
            options.add(_OPTIONS.get(word, word))
        else:
            raise UsageError(f"ph-bt has no option {word!r}.", nearest(word, _OPTIONS.values()) or "See help ph-bt.")
    return options, limit


def _style(full: bool) -> Style:  # noqa: FBT001  (a condition, not an option)
    width = gdb.parameter("width")
    return Style(full=full, width=width if terminal.is_terminal() and isinstance(width, int) and width else None)
