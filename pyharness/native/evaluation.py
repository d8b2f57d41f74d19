"""Whether an op runs for a debugger that evaluates something: that is no part of the program, and stops nowhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

_OURS = Path(__file__).resolve().parent.parent / "debuggee"
_EVALUATES = {
    "do_wait_suspend": ("pydevd.py",),
    "handle_breakpoint_condition": ("pydevd.py",),
    "handle_breakpoint_expression": ("pydevd.py",),
    "interaction": ("pdb.py",),  # its prompt, and that of IPython's debugger
    "answer": (str(_OURS / "agent.py"),),
    "hold": (str(_OURS / "conditions.py"),),
    "_holds": (str(_OURS / "line_stops.py"),),
}
"""Functions below which a debugger runs what its user typed, and the files that they are in."""


def is_evaluated(frame: FrameType | None) -> bool:
    """Whether a debugger's evaluation is among ``frame`` and its callers."""
    while frame is not None:
        files = _EVALUATES.get(frame.f_code.co_name)
        if files and _is_one_of(frame.f_code.co_filename, files):
            return True
        frame = frame.f_back
    return False


def _is_one_of(path: str, files: tuple[str, ...]) -> bool:
    return any(path == file or os.path.basename(path) == file for file in files)  # noqa: PTH119  (on the way of a hit)
