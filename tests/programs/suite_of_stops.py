"""Tests whose own process is stopped: the library of C functions lies beside them."""

import contextlib
import ctypes
import os
import sys
import time
from pathlib import Path

library = ctypes.CDLL(str(Path(__file__).with_name("native.so")))


def calls(count):
    result = library.scaled(count, ctypes.c_double(2.5))
    return result  # noqa: RET504  (a line to come back to)


def test_the_values_of_a_kernel(ph_step):
    stop = ph_step("native:scaled", lambda: calls(3))
    assert (stop.language, stop.function, stop.line) == ("native", "scaled", 2)
    assert (stop.values["count"], stop.values["by"]) == ("3", "2.5")
    assert [function for function, _place in stop.stack][:2] == ["scaled", "calls"]
    assert stop.result == 7


def test_steps(ph_step):
    stop = ph_step("native:scaled", lambda: calls(4), ["over"])
    assert (stop.line, stop.values["product"]) == (3, "10")
    stop = ph_step("native:scaled", lambda: calls(4), ["out"])
    assert (stop.language, stop.function, stop.line) == ("python", "calls", 15)


def test_out_of_what_is_run(ph_step):
    stop = ph_step("native:scaled", lambda: library.scaled(4, ctypes.c_double(2.5)), ["out"])
    assert (stop.language, stop.function) == ("python", "test_out_of_what_is_run")
    assert (stop.file, stop.note[:25]) == (__file__, "what was run has returned")


def test_a_line_of_python(ph_step):
    assert ph_step(f"py:{__file__}:14", lambda: calls(5)).values["count"] == "5"


def test_another_stop_behind_one_that_failed(ph_step):
    for _ in range(3):
        with contextlib.suppress(ZeroDivisionError):
            ph_step("native:scaled", lambda: 1 / 0)
        assert ph_step("native:scaled", lambda: calls(3)).result == 7


def test_a_trace_function_stays(ph_step):
    def trace(*_):
        return trace

    sys.settrace(trace)  # as coverage does
    try:
        ph_step(f"py:{__file__}:14", lambda: calls(5))
        ph_step("native:scaled", lambda: calls(5))
        left = sys.gettrace()
    finally:
        sys.settrace(None)
    assert left is trace


def test_an_unknown_place(ph_step):
    ph_step("native:scalde", lambda: calls(5))


def test_a_place_that_is_not_reached(ph_step):
    ph_step("native:scaled", lambda: 5)


def test_an_unknown_step(ph_step):
    ph_step("native:scaled", lambda: calls(5), ["ovr"])


def test_more_steps_than_there_are(ph_step):
    ph_step("native:scaled", lambda: calls(5), ["out"] * 9)


def test_no_list_of_steps(ph_step):
    ph_step("native:scaled", lambda: calls(5), "over")


def test_what_raises_when_it_has_forked(ph_step):
    def forks():
        if not os.fork():
            time.sleep(9)
            os._exit(0)
        raise ZeroDivisionError

    with contextlib.suppress(ZeroDivisionError):
        ph_step("native:scaled", forks)
    assert ph_step("native:scaled", lambda: calls(3)).result == 7
