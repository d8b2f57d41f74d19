"""What pydevd is about to do to threads of the program."""

from __future__ import annotations

from contextlib import suppress

from pyharness.debuggee.thread_registry import REGISTRY

_RUNS = 1
"""``STATE_RUN`` of ``pydevd_constants``."""


def any_thread_may_stop() -> bool:
    """Whether a thread steps, or is to pause, or stands."""
    with suppress(RuntimeError):  # a thread begins or ends meanwhile
        infos = [getattr(each, "additional_info", None) for each in tuple(REGISTRY.active.values())]
        return any(info is not None and (info.pydev_step_cmd != -1 or info.pydev_state != _RUNS) for info in infos)
    return True
