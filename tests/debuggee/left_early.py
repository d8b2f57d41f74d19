"""debugpy connected to an adapter that says nothing, and a debugger that is gone before it is ready.

python left_early.py WHEN
"""

import socket
import sys
import threading
import time
from contextlib import suppress

from pyharness.debuggee import quiet_thread, tracing

when = sys.argv[1]
over, returned = threading.Event(), threading.Event()


def until(condition):
    while not condition():
        time.sleep(0.01)


def session(address):
    with suppress(OSError):  # as the session: it would tell it
        tracing.connect(*address, over.is_set)
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


with socket.create_server(("127.0.0.1", 0)) as adapter:
    if when == "before it connects":
        leave()
    quiet_thread.start(session, adapter.getsockname())
    peer, _ = adapter.accept()
    if when != "before it connects":
        until(
            lambda: (
                tracing._debugger and tracing._debugger[0].writer in tracing._debugger[0].created_pydb_daemon_threads
            )
        )
        debugger = tracing._debugger[0]
        if when == "its threads start":
            starts_its_threads_late(debugger)
        if when == "the adapter ended":
            peer.close()
            until(lambda: debugger.pydb_disposed)
        leave()
    assert returned.wait(20), "connect does not return"
    peer.close()
print("ends")
