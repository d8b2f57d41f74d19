"""Whether only threads of ours are left in the program: its main thread may end by itself, before the others.

The process of such a program ends with its last thread, with status 0. One of ours that waits for debuggers is none.
"""

from __future__ import annotations

import os

from pyharness.debuggee.link import quiet_thread
from pyharness.debuggee.thread_registry import REGISTRY
from pyharness.host.process_state import lives_on, tasks


def is_left_alone() -> bool:
    """Whether the program's main thread has ended (``pthread_exit``), and every other one of its threads."""
    here = os.getpid()
    return lives_on(here) is not None and set(tasks(here)) <= {here, *quiet_thread.lwps(), *_of_pydevd()}


def _of_pydevd() -> set[int]:
    known = tuple(REGISTRY.active.values())
    return {thread.native_id or 0 for thread in known if getattr(thread, "is_pydev_daemon_thread", False)}
