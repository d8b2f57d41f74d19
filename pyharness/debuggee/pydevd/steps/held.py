"""A step into what a line calls, held while something runs that it is to pass by; breakpoints stop in there as ever."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.steps import unwound_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_STEP = -1
_HELD = -2
"""In place of the step that was asked for first: a stop meanwhile, and each step from there, writes another one."""


def is_into() -> bool:
    """Whether this thread steps into what its line calls."""
    return _is_into(unwound_steps.stepping()[1])


@contextmanager
def step_held() -> Iterator[None]:
    """Have such a step of this thread go on behind the block."""
    info = unwound_steps.stepping()[1]
    if not _is_into(info):
        yield
        return
    step = info.pydev_step_cmd, info.pydev_original_step_cmd
    _set(info, _NO_STEP, _HELD)
    try:
        yield
    finally:
        if (info.pydev_step_cmd, info.pydev_original_step_cmd) == (_NO_STEP, _HELD):
            _set(info, *step)


def _set(info: Any, step: int, original: int) -> None:
    info.pydev_step_cmd, info.pydev_original_step_cmd = step, original
    info.update_stepping_info()


def _is_into(info: Any) -> bool:
    if info is None:
        return False
    from _pydevd_bundle import pydevd_comm_constants as commands

    return info.pydev_step_cmd in (commands.CMD_STEP_INTO, commands.CMD_STEP_INTO_MY_CODE)
