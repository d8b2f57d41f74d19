"""Threads that run already are traced where pydevd has no library for that: on musl, or in a debug build.

Its own variable leaves the library out here. Python 3.12 and newer need none.
"""

import pytest

import pyharness
from kit.interpreters import cases, interpreters

OLDER = [name for name in interpreters() if name.startswith(("3.9", "3.10", "3.11"))]


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases(OLDER))
@pytest.mark.parametrize(("way", "mark"), [("nothing", "nothing"), ("threads", "work")])
def test_a_breakpoint_binds_in_threads_that_run(running, monkeypatch, version, way, mark):
    monkeypatch.setenv("PYDEVD_LOAD_NATIVE_LIB", "0")
    walker = running("attach_loop.py", way, python=interpreters()[version])
    with pyharness.attach(walker.pid) as program:
        stop = program.run_to(walker.at(mark))
        assert stop.frame.function == {"work": "work"}.get(mark, way)
        assert program.over().thread == stop.thread
    walker.ends_free()
