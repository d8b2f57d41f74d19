"""debugpy connected to somebody who says nothing, and a debugger that is gone before it is ready.

python left_early.py WHEN
"""

import socket
import sys
import threading
import time
from contextlib import suppress

from pyharness.debuggee.link import quiet_thread
from pyharness.debuggee.pydevd import tracing

when = sys.argv[1]
over, returned = threading.Event(), threading.Event()


def debuggers():
    return tracing._Known.debuggers


def until(condition):
    while not condition():
        time.sleep(0.01)


def session(link):
    with suppress(OSError):  # as the session: it would tell it
        tracing.connect(link, over.is_set)
    tracing.let_go()
    returned.set()


def leave():
    over.set()
    tracing.release()


def starts_its_threads_late(debugger):
    start = debugger.start_auxiliary_daemon_threads

    def late():
        until(lambda: debugger.pydb_disposed and not debugger.writer.is_alive())
        debugger.writer._cmd_queue.put("what was not sent")
        start()

    debugger.start_auxiliary_daemon_threads = late


link, peer = socket.socketpair()
with link, peer:
    if when == "before it connects":
        leave()
    quiet_thread.start(session, link)
    if when != "before it connects":
        until(lambda: debuggers() and debuggers()[0].writer in debuggers()[0].created_pydb_daemon_threads)
        debugger = debuggers()[0]
        if when == "its threads start":
            starts_its_threads_late(debugger)
        if when == "it hung up":
            peer.close()
            until(lambda: debugger.pydb_disposed)
        leave()
    assert returned.wait(20), "connect does not return"
print("ends")
