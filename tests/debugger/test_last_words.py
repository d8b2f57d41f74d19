"""What debuggers tell of a program after its end has been heard of, which comes by another way."""

import queue
import threading

from pyharness.debugger.live.last_words import last_words
from pyharness.gdbmi.records import Notice

PRINTED = ("gdb", Notice("~", "console", {"text": "ph-logged"}))
GONE = ("gdb", Notice("*", "stopped", {"reason": "exited-normally"}))
OUTPUT = ("debugpy", {"event": "output"})
LEFT = ("left", None)


def test_it_waits_for_those_that_log():
    events = queue.SimpleQueue()
    later = threading.Timer(0.05, lambda: [events.put(each) for each in (LEFT, PRINTED, OUTPUT, GONE, PRINTED)])
    later.start()
    assert list(last_words(events, [PRINTED], {"gdb"})) == [PRINTED, PRINTED]
    later.join()
    assert [events.get_nowait() for _ in range(3)] == [PRINTED, LEFT, OUTPUT]


def test_a_debugger_that_is_gone_is_waited_for_no_more():
    events = queue.SimpleQueue()
    for each in (OUTPUT, ("debugpy", None), PRINTED, ("gdb", None)):
        events.put(each)
    assert list(last_words(events, (), {"gdb", "debugpy"})) == [OUTPUT, PRINTED]


def test_nobody_is_waited_for_where_nobody_logs():
    events = queue.SimpleQueue()
    events.put(LEFT)
    assert list(last_words(events, [PRINTED], set())) == []
    assert events.get_nowait() == LEFT
