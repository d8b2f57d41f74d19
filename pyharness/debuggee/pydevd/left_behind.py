"""What a debugging session leaves in pydevd's notes on the program's threads, taken back: the next one reads them too.

A session that ends in order lets its threads go. Where the debugger was killed they stay suspended or stepping in these
notes, and the next session would tell a stop that nobody asked for.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.thread_registry import REGISTRY
from pyharness.debuggee.unpatched import threading

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_STEP = -1
_LOOK_AGAIN = 0.01
_PATIENCE = 2.0
"""How long a thread may take to leave pydevd: one that evaluates an expression of the person's takes longer."""


def clear(debugger: Any = None) -> None:
    """Every thread runs, and steps nowhere; those that ``debugger`` held hear of it at once."""
    if "pydevd" not in sys.modules:
        return
    from _pydevd_bundle.pydevd_constants import PYTHON_SUSPEND, STATE_RUN, get_thread_id

    for thread, info in _infos():
        info.pydev_step_cmd = info.pydev_original_step_cmd = _NO_STEP
        info.pydev_step_stop = info.step_in_initial_location = None
        info.pydev_next_line = info.pydev_smart_parent_offset = info.pydev_smart_child_offset = _NO_STEP
        info.pydev_smart_step_into_variants, info.target_id_to_smart_step_into_variant = (), {}
        info.pydev_use_scoped_step_frame = info.suspended_at_unhandled = False
        info.conditional_breakpoint_exception = None
        info.pydev_message, info.suspend_type = "", PYTHON_SUSPEND
        info.pydev_state = STATE_RUN  # last: the thread that waits for it goes on, and looks at the others
        info.update_stepping_info()
        if debugger is not None and info.is_in_wait_loop:
            debugger.get_internal_queue_and_event(get_thread_id(thread))[1].set()


def wait_until_left() -> None:
    """Until no thread is held by pydevd any more, but not for ever."""
    if "pydevd" not in sys.modules:
        return
    patience = threading.Event()
    for _ in range(int(_PATIENCE / _LOOK_AGAIN)):
        if not any(info.is_in_wait_loop for _, info in _infos()):
            return
        patience.wait(_LOOK_AGAIN)


def _infos() -> Iterator[tuple[threading.Thread, Any]]:
    """What pydevd notes on each thread that Python knows."""
    with suppress(RuntimeError):  # one begins or ends meanwhile
        threads = tuple(REGISTRY.active.values())
        for thread in threads:
            info = getattr(thread, "additional_info", None)
            if info is not None:
                yield thread, info
