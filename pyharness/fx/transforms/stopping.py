"""Stops whatever debugger ``breakpoint()`` would, but in the frame of generated code that called."""

from __future__ import annotations

import os
import pdb  # noqa: T100  (a debugger's business)
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from types import FrameType

_HOOK = "PYTHONBREAKPOINT"
_DEBUGPY = {"debugpy", "pydevd", "sitecustomize", "pydev_sitecustomize"}
"""Where debugpy's hooks are from; each of them stops in the frame that calls it."""
_PASSED = tuple(f"{Path(str(package)).parent}{os.sep}" for package in (torch.__file__, Path(__file__).parent.parent))


def stop_in_caller() -> None:
    """Stop at the next line of the nearest frame that is neither torch's nor ours."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    while frame is not None and frame.f_code.co_filename.startswith(_PASSED):
        frame = frame.f_back
    if frame is None or os.environ.get(_HOOK) == "0":
        return
    hook = sys.breakpointhook
    if (hook.__module__ or "").partition(".")[0] in _DEBUGPY:
        _stop_debugpy(frame)
    elif hook is sys.__breakpointhook__ and not os.environ.get(_HOOK):
        _stop_pdb(frame)
    else:
        hook()  # somebody's own: it knows no other frame than this one


def _stop_debugpy(frame: FrameType) -> None:
    import pydevd

    if pydevd.get_global_debugger() is not None:  # else nobody is connected, and its `breakpoint()` does nothing
        pydevd.settrace(suspend=True, trace_only_current_thread=True, patch_multiprocessing=False, stop_at_frame=frame)


def _stop_pdb(frame: FrameType) -> None:
    """Stop as ``pdb.Pdb().set_trace(frame)`` does, but not in what torch runs until it is back in ``frame``."""
    debugger = pdb.Pdb(nosigint=True)
    debugger.reset()
    callers = [frame]
    while callers[-1].f_back is not None:
        callers.append(callers[-1].f_back)
    for each in callers:
        each.f_trace = debugger.trace_dispatch
    debugger.botframe = callers[-1]
    debugger.set_next(frame)
    sys.settrace(debugger.trace_dispatch)
