"""Steps that pass by what torch imports for itself, late: a step into an op of the user's can be its first need of it.

Else the step would end in a class statement of such a module, in ``typing_extensions`` or ``sympy``, which are the
user's code as any other package is where a line of theirs calls it. Breakpoints stop in there as ever.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.steps import unwound_steps
from pyharness.debuggee.watched.imports import around_all_imports

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

_LIBRARIES = ("torch.", "functorch.", "torchgen.")
_NO_STEP = -1
_HELD = -2
"""In place of the step that was asked for first: a stop meanwhile, and each step from there, writes another one."""


def watch() -> None:
    """From now on a step into what a line calls goes on behind each such import."""
    around_all_imports(_is_passed_by, _held)


def _is_passed_by(name: str) -> bool:
    return name.startswith(_LIBRARIES) and _is_into(unwound_steps.stepping()[1])


def _is_into(info: Any) -> bool:
    if info is None:
        return False
    from _pydevd_bundle import pydevd_comm_constants as commands

    return info.pydev_step_cmd in (commands.CMD_STEP_INTO, commands.CMD_STEP_INTO_MY_CODE)


@contextmanager
def _held(_module: ModuleType) -> Iterator[None]:
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
