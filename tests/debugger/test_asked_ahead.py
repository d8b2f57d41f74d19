"""What gdb is asked ahead is asked once, given once, and dropped where something may have changed."""

import re

import pytest

from pyharness.debugger.native.variables import NativeVariables
from pyharness.protocol import mi


@pytest.fixture
def program(debugged):
    """One that stands in an extension's function."""
    crossing = debugged("core_crossing.py")
    program = crossing.start()
    program.run_to(crossing.at("held"))
    program.into_native()
    return program


@pytest.fixture
def native(program):
    """gdb, and the thread that it holds there."""
    return program._shell.native, program._shell.machine.focus.thread


def asked(native):
    """The names of our commands that gdb was sent."""
    return re.findall(r"^-> \d*(-ph-[a-z-]+)", "\n".join(native.transcript), re.MULTILINE)


def test_it_is_asked_once_and_given_once(native):
    side, thread = native
    known = NativeVariables(side)
    side.look_ahead(mi.Scopes(thread, 0))
    before = len(asked(side))
    (arguments, *_) = known.scopes(thread, 0)
    (value,) = known.children(thread, arguments.handle, 0, 0)
    assert (value.name, value.value) == ("value", "1")
    assert len(asked(side)) == before
    assert known.children(thread, arguments.handle, 0, 0) == (value,)
    known.scopes(thread, 0)
    assert asked(side)[before:] == ["-ph-children", "-ph-scopes"]


@pytest.mark.parametrize("change", ["assigned", "goes_on"])
def test_it_is_dropped_where_something_may_have_changed(native, change):
    side, thread = native
    known = NativeVariables(side)
    side.look_ahead(mi.Scopes(thread, 0))
    if change == "assigned":
        side.evaluate(thread, "value = 7")
    else:
        side.forget_variables()
    (arguments, *_) = known.scopes(thread, 0)
    (value,) = known.children(thread, arguments.handle, 0, 0)
    assert value.value == ("7" if change == "assigned" else "1")
    assert asked(side).count("-ph-scopes") == 2


@pytest.mark.parametrize("way", ["over", "out"])
def test_gdb_arms_a_step_where_the_last_one_ended(program, way):
    side = program._shell.native
    if way == "out":
        assert program.into().frame.function == "crossing::scaled"
    getattr(program, way)()
    before = len(asked(side))
    assert program.over().frame.function == "crossing::held"
    assert "-ph-arm-handlers" not in asked(side)[before:]
