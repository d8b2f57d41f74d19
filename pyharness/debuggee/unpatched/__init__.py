"""Modules of the standard library that are the debugger's alone: what a program puts in their places is not in them.

gevent's ``monkey.patch_all`` replaces locks, sockets, sleeps and the identity of a thread in ``threading`` and others.
A thread of ours would wait there for greenlets that never run. So all that locks, waits or asks for its thread in a
program imports these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debuggee.unpatched.copies import is_programs_own as is_programs_own

if TYPE_CHECKING:
    import _thread as _thread
    import queue as queue
    import select as select
    import socket as socket
    import threading as threading
    import time as time
else:
    from pyharness.debuggee.unpatched.copies import unpatched
    from pyharness.host.first_use import on_first_use

    _thread, time, select, socket = (unpatched(each) for each in ("_thread", "time", "select", "socket"))
    __getattr__, __dir__, __all__ = on_first_use(
        __name__, {"waiting": "threading queue"}, "_thread", "time", "select", "socket", "is_programs_own"
    )
