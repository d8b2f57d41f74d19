"""Keeps a frame's variables apart from a variable whose value is that frame: pydevd numbers both by the same object."""

from __future__ import annotations

from typing import Any

_MARK = "pyharness_apart"


def watch() -> None:
    """From now on the number stands for the frame: its variables are asked for as often as it is looked at."""
    from _pydevd_bundle.pydevd_suspended_frames import _FramesTracker, _FrameVariable

    if hasattr(_FramesTracker, _MARK):
        return
    setattr(_FramesTracker, _MARK, True)
    register = _FramesTracker._register_variable

    def stands_for(tracker: Any, variable: Any) -> None:
        known = tracker._variable_reference_to_variable.get(variable.get_variable_reference())
        if not isinstance(known, _FrameVariable) or isinstance(variable, _FrameVariable):
            register(tracker, variable)

    _FramesTracker._register_variable = stands_for
