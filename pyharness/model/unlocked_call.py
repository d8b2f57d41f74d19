"""Calls of Python's C API that crash because the thread does not hold the GIL, or Python has ended."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from pyharness.model.plumbing import native_family
from pyharness.model.user_code import is_user_binary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.model.frames import Frame

_NEEDS_NONE = re.compile(r"_?Py(Mem_Raw|Thread_|GILState_|Eval_(Save|Restore|Acquire|Release)|_?Initialize|_?Finalize)")
_OF_THE_API = re.compile(r"_?Py")
_EXITS = frozenset({"exit", "__run_exit_handlers", "__cxa_finalize"})


def unlocked_call(frames: Sequence[Frame], *, python_runs: bool) -> str:
    """What to say of the innermost frames of a thread that does not hold the GIL, where they are the interpreter's.

    ``frames``: innermost first, where it stands at a fault or has aborted. ``python_runs``: whether there is an
    interpreter that can be read. Empty where no such call is known to be the reason.
    """
    called = _called(frames)
    if not called:
        return ""
    if python_runs:
        return f"{called} was called without the GIL (py::gil_scoped_acquire or PyGILState_Ensure takes it)"
    if any(frame.function in _EXITS for frame in frames):
        return (
            f"{called} was called when Python had ended, by {_of_user(frames)} at exit (a static object's destructor?)"
        )
    return ""


def _of_user(frames: Sequence[Frame]) -> str:
    """Whose code runs."""
    library = next((frame.library for frame in frames if frame.library and is_user_binary(frame.library)), None)
    return library.rsplit("/", 1)[-1] if library else "what runs"


def _called(frames: Sequence[Frame]) -> str:
    """The function through which native code came into the interpreter; empty for one that needs no GIL.

    ``Python`` where it has no name, as behind a jump in an interpreter without symbols.
    """
    begin = sum(1 for _ in takewhile(lambda frame: _family(frame) == "libc", frames))
    within = list(takewhile(_is_interpreters, frames[begin:]))
    caller = frames[begin + len(within) :][:1]
    names = [frame.function for frame in within if frame.language == "native"]
    if not names or not caller or _family(caller[0]) == "libc" or _NEEDS_NONE.match(names[-1]):
        return ""  # a thread of Python's own runs nothing but the interpreter
    return names[-1] if _OF_THE_API.match(names[-1]) else "Python"


def _is_interpreters(frame: Frame) -> bool:
    return frame.language == "python" or _family(frame) == "interpreter"


def _family(frame: Frame) -> str:
    return native_family(frame.function, frame.library, frame.file) if frame.language == "native" else ""
