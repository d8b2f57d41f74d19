"""Counts which events of sys.monitoring come through the native half to a debugger's callbacks."""

import sys
from collections import Counter

from pyharness import _trap

monitoring, events, TOOL = sys.monitoring, sys.monitoring.events, sys.monitoring.DEBUGGER_ID
told = Counter()
steps = False


def placed():
    told.total()
    told.total()  # the place


def watched():
    pass


def unwatched():
    pass


def inner():
    raise LookupError


def last():
    inner()


def outer():
    try:
        inner()
    except LookupError:
        pass


PLACE = placed.__code__.co_firstlineno + 2
BEGINNING = "def begins(function):\n    try:\n        function()\n    except LookupError:\n        pass\n"


def lines_in(file):
    return frozenset({PLACE} if file == __file__ else ())


def fails(*_):
    raise RuntimeError


def started(code, _offset):
    told[code.co_name] += 1


def at_line(_code, line):
    told["place" if line == PLACE else "other"] += 1


def left(code, _offset, _error):
    told[code.co_name] += 1


def begin(lines=lines_in, stepping=lambda: steps):
    def watches(code):
        return bool(monitoring.get_local_events(TOOL, code) & events.LINE)

    _trap.begin_monitored(lines, stepping, stepping, lambda file: file == "beginning.py", watches, monitoring.DISABLE)
    _trap.change_monitored(started, at_line, left)
    monitoring.use_tool_id(TOOL, "counts")
    monitoring.register_callback(TOOL, events.PY_START, _trap.start_event)
    monitoring.register_callback(TOOL, events.LINE, _trap.line_event)
    monitoring.register_callback(TOOL, events.PY_UNWIND, _trap.unwind_event)


def count(*functions, names):
    """Call each three times."""
    for function in functions * 3:
        function()
    monitoring.set_events(TOOL, 0)
    print(*(f"{name} {told.pop(name, 0)}" for name in names))


def of_lines(**asked):
    begin(**asked)
    monitoring.set_local_events(TOOL, placed.__code__, events.LINE)
    count(placed, names=("place", "other"))


def of_lines_of_a_step():
    global steps
    of_lines()
    steps = True
    monitoring.restart_events()
    count(placed, names=("place", "other"))


def of_starts():
    begin()
    monitoring.set_local_events(TOOL, watched.__code__, events.LINE)
    monitoring.set_events(TOOL, events.PY_START)
    count(watched, unwatched, names=("watched", "unwatched"))


def of_exceptions():
    namespace = {}
    exec(compile(BEGINNING, "beginning.py", "exec"), namespace)
    begin()
    monitoring.set_events(TOOL, events.PY_UNWIND)
    count(outer, lambda: namespace["begins"](last), names=("inner", "last"))


def of_exceptions_of_a_step():
    global steps
    begin()
    monitoring.register_callback(TOOL, events.PY_UNWIND, _trap.while_stepping(left))
    monitoring.set_events(TOOL, events.PY_UNWIND)
    count(outer, names=("inner",))
    steps = True
    monitoring.set_events(TOOL, events.PY_UNWIND)
    count(outer, names=("inner",))


def of_lines_where_asking_fails():
    of_lines(lines=fails)
    monitoring.free_tool_id(TOOL)
    of_lines(stepping=fails)


globals()[sys.argv[1]]()
