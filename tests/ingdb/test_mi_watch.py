"""Data breakpoints on C++ values: every thread, those that come later too; what was there before and after."""

from dataclasses import replace

import pytest
from mi_session import Attached, capable, line_of

from pyharness.debugger.native.watch import NativeWatch
from pyharness.gdbmi.client import GdbError


@pytest.fixture
def program():
    with Attached([capable()]) as attached:
        yield attached


def test_a_write_is_told_with_both_values_and_its_line(program):
    thread = program.run_to("capable::steps", "s")
    watch = NativeWatch(program.native)
    found = watch.watch(thread, "counters[1]")
    assert (found.length, found.value) == (8, "20")
    assert found.description == f"counters[1] (long) at {found.address:#x}"
    program.native.threads.resume(thread)
    program.say("c")
    reason, thread, _ = program.stop()
    assert reason == "data breakpoint"
    hit = watch.hits(thread)[0]
    assert (hit.old, hit.new, hit.by.function, hit.by.line) == ("20", "22", "capable::count", line_of("count"))
    assert hit.own.function == "capable::count"


def test_threads_that_come_later_are_watched(program):
    thread = program.run_to("capable::steps", "s")
    watch = NativeWatch(program.native)
    names = [f"counters[{index}]" for index in range(4)]
    for name in names:
        watch.watch(thread, name)
    program.native.threads.resume(thread)
    program.say("t")
    hits = {}
    for _ in names:
        reason, thread, _ = program.stop()
        assert reason == "data breakpoint"
        assert thread != program.process.pid
        hits[thread] = watch.hits(thread)[0]
    assert sorted((hit.old, hit.new) for hit in hits.values()) == [
        ("10", "11"),
        ("20", "22"),
        ("30", "33"),
        ("40", "44"),
    ]


def test_it_outlives_the_frame_and_goes_when_it_is_removed(program):
    thread = program.run_to("capable::steps", "s")
    watch = NativeWatch(program.native)
    found = watch.watch(thread, "ratio", condition="$value > 5 && $old == 3")
    program.native.threads.resume(thread)
    program.say("ccc")
    assert [program.heard() for _ in range(2)] == ["done s", "done c"]
    _, thread, _ = program.stop()
    hit = watch.hits(thread)[0]
    assert (hit.old, hit.new) == ("3", "6")
    assert hit.by.line == line_of("count_ratio")
    watch.unwatch(found.number)
    program.native.threads.resume(thread)
    assert [program.heard() for _ in range(2)] == ["done c", "done c"]


@pytest.mark.parametrize("access", ["read", "readWrite"])
def test_reads_are_told(program, access):
    thread = program.run_to("capable::steps", "s")
    watch = NativeWatch(program.native)
    watch.watch(thread, "counters[2]", access=access)
    program.native.threads.resume(thread)
    program.say("r")
    reason, thread, _ = program.stop()
    hit = watch.hits(thread)[0]
    assert (reason, hit.old, hit.new, hit.by.line) == ("data breakpoint", "30", "30", line_of("read_only"))


def test_an_address_and_its_bytes(program):
    thread = program.run_to("capable::steps", "s")
    watch = NativeWatch(program.native)
    whole = watch.target(thread, "counters")
    assert whole.length == 32
    assert whole.value == "{10, 20, 30, 40}"
    found = watch.watch(thread, replace(whole, address=whole.address + 8, length=16))
    program.native.threads.resume(thread)
    program.say("c")
    _, thread, notice = program.stop()
    hit = watch.hit(notice, thread)
    assert (hit.number, hit.length) == (found.number, 16)
    assert hit.new == "16 00 00 00 00 00 00 00 1e 00 00 00 00 00 00 00"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("buffer", "buffer (char [100]) is 100 bytes long; the processor has 4 debug registers of up to 8 aligned"),
        ("counters[1] + 1", "has no address"),
        ("nosuch", "cannot be evaluated: No symbol"),
        ("steps(3)", "cannot be evaluated"),
        ("*nowhere", "no 4 bytes of memory at 0x0"),
    ],
)
def test_what_cannot_be_watched_says_why(program, expression, message):
    thread = program.run_to("capable::steps", "s")
    with pytest.raises(GdbError) as refused:
        NativeWatch(program.native).watch(thread, expression)
    assert message in refused.value.message


def test_two_that_one_write_hits_are_both_told(program):
    thread = program.run_to("capable::steps", "s")
    watch = NativeWatch(program.native)
    numbers = {watch.watch(thread, "counters[1]").number, watch.watch(thread, "*(int*)&counters[1]").number}
    program.native.threads.resume(thread)
    program.say("cc")
    for old in (20, 22):
        _, thread, _ = program.stop()
        hits = watch.hits(thread)
        assert {hit.number for hit in hits} == numbers
        assert {(hit.old, hit.new) for hit in hits} == {(str(old), str(old + 2))}
        program.native.threads.resume(thread)
    assert [program.heard() for _ in range(3)] == ["done s", "done c", "done c"]


def test_a_condition_that_does_not_parse_is_refused_and_one_that_fails_stops(program):
    thread = program.run_to("capable::steps", "s")
    watch = NativeWatch(program.native)
    with pytest.raises(GdbError, match=r"The condition '\$value >' does not parse"):
        watch.watch(thread, "ratio", condition="$value >")
    watch.watch(thread, "ratio", condition="nosuch > 1")
    program.native.threads.resume(thread)
    program.say("c")
    _, thread, _ = program.stop()
    assert watch.hits(thread)[0].error == 'the condition cannot be tested: No symbol "nosuch" in current context.'


def test_the_fifth_register_is_refused_with_what_holds_the_others(program):
    thread = program.run_to("capable::steps", "s")
    watch = NativeWatch(program.native)
    watch.watch(thread, "counters[0]")
    watch.watch(thread, "point")
    with pytest.raises(GdbError) as refused:
        watch.watch(thread, "ratio")
    assert "0 of them free" in refused.value.message
    assert "counters[0] (long), point (capable::Point)" in refused.value.message


def test_a_machine_without_debug_registers_refuses_at_once(program):
    thread = program.run_to("capable::steps", "s")
    program.native.link.console(
        "python from pyharness.ingdb.stops import debug_registers; debug_registers.refusal = lambda *_: 'not here'"
    )
    with pytest.raises(GdbError) as refused:
        NativeWatch(program.native).watch(thread, "ratio")
    assert "This machine gives no hardware watchpoints to debuggers: not here." in refused.value.message
    assert "one instruction at a time" in refused.value.message
