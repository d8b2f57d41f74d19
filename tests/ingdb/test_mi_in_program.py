"""Data breakpoints set at a Python stop, in a program under both debuggers: told by the core as what they are."""

import os
import signal

import pytest
from mi_session import line_of

import pyharness
from kit.paths import PROGRAMS
from pyharness.debugger.native.watch import NativeWatch
from pyharness.model.errors import DebuggerLostError

pytestmark = pytest.mark.rotated_tests(turns=5)


PROGRAM = PROGRAMS / "watched_in_threads.py"


@pytest.fixture
def program():
    with open(os.devnull, "w") as nowhere, pyharness.debug(str(PROGRAM), stdout=nowhere) as program:  # noqa: PTH123
        yield program


def test_a_worker_that_changes_an_element_is_caught_in_the_act(program):
    stop = program.run_to(f"py:{PROGRAM}:{line_of('made', PROGRAM)}")
    watch = NativeWatch(program._shell.attach())
    target = watch.watch(stop.thread, "x[1, 0]")  # debugpy holds this thread: gdb does only while it is asked
    assert (target.description, target.value) == (f"x[1, 0] (float32) at {target.address:#x}", "0.0")
    seen = []
    for _ in range(2):  # adding 0 changes nothing
        stop = program.resume()
        assert (stop.reason, stop.frame.language) == ("data breakpoint", "native")
        assert stop.thread != program.pid
        (hit,) = watch.hits(stop.thread)
        assert (hit.own.function, hit.own.line) == ("change", line_of("change", PROGRAM))
        seen.append((hit.old, hit.new))
    assert seen == [("0.0", "1.0"), ("1.0", "3.0")]
    stop = program.out()
    assert (stop.frame.language, stop.frame.function) == ("python", "change")
    watch.unwatch(target.number)
    stop = program.run_to(f"py:{PROGRAM}:{line_of('joined', PROGRAM)}")
    assert program.evaluate("x[1, 0].item()") == "3.0"
    assert program.finish() == 7


def test_it_leaves_nothing_behind_when_the_program_is_let_go(program):
    stop = program.run_to(f"py:{PROGRAM}:{line_of('made', PROGRAM)}")
    NativeWatch(program._shell.attach()).watch(stop.thread, "x[1, 0]")
    assert program.resume().reason == "data breakpoint"
    program.detach()
    assert program.finish() == 7


def test_the_program_outlives_a_gdb_that_is_killed(program):
    stop = program.run_to(f"py:{PROGRAM}:{line_of('made', PROGRAM)}")
    native = program._shell.attach()
    NativeWatch(native).watch(stop.thread, "x[1, 0]")
    os.kill(native.link.pid, signal.SIGKILL)
    assert native.link.ends(20)  # the program may end before that is heard of
    with pytest.raises(DebuggerLostError):
        program.resume()
    assert program.finish() == 7
