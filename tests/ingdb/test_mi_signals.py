"""Signals: which ones stop, and what the address of a fault is."""

import os

import pytest
from mi_session import Attached, capable, line_of

from pyharness.debugger.native.signals import NativeSignals
from pyharness.gdbmi.client import GdbError
from pyharness.reading.process.fault_address import Area, areas, described


@pytest.fixture
def program():
    with Attached([capable()]) as attached:
        yield attached


FAULTS = [
    ("x", 0, "a null pointer", "the address is not mapped"),
    ("y", 0x10, "a null pointer and 16 bytes: a member or element of nothing", "the address is not mapped"),
    ("z", 0x4141414141414141, "no address at all (not canonical): the pointer is garbage", "the processor refused"),
    ("w", None, "read-only memory (", "the memory's protection does not allow it"),
]


@pytest.mark.parametrize(("letter", "address", "what", "reason"), FAULTS)
def test_a_fault_says_what_was_touched(program, letter, address, what, reason):
    program.say(letter)
    stopped, thread, _ = program.stop()
    assert stopped == "signal"
    found = NativeSignals(program.native).info(thread)
    assert (found.name, found.meaning, found.sender) == ("SIGSEGV", "Segmentation fault", 0)
    assert found.address == address or (address is None and found.address)
    assert found.what.startswith(what)
    assert found.reason.startswith(reason)
    assert found.text.startswith(f"SIGSEGV (Segmentation fault) at {found.address:#x}: {what}")
    assert program.native.where(thread).line == line_of("crash")


def test_a_stack_that_overflows(program):
    program.say("O")
    _, thread, _ = program.stop()
    assert NativeSignals(program.native).info(thread).what == "just beyond this thread's stack: it has overflowed"


def test_a_division_by_zero(program):
    program.say("0")
    _, thread, _ = program.stop()
    found = NativeSignals(program.native).info(thread)
    assert (found.name, found.reason, found.what) == ("SIGFPE", "an integer was divided by zero", "")


def test_an_assertion_that_fails(program):
    program.say("A")
    _, thread, _ = program.stop()
    found = NativeSignals(program.native).info(thread)
    assert (found.name, found.sender, found.address) == ("SIGABRT", 0, None)
    assert "bool capable::obey(char): Assertion `counters[3] < 0' failed." in found.what
    assert found.what in found.text


@pytest.mark.parametrize(
    ("letter", "why"),
    [
        ("T", "nothing caught capable::Refused: nobody listens"),
        ("E", "std::terminate was called without an exception"),
        ("J", "std::terminate was called because a std::thread was destroyed or assigned to that nobody had joined"),
    ],
)
def test_an_exception_that_nothing_catches(program, letter, why):
    program.say(letter)
    _, thread, _ = program.stop()
    found = NativeSignals(program.native).info(thread)
    assert (found.name, found.what) == ("SIGABRT", why)


def test_only_the_signals_asked_for_stop_and_the_program_gets_them(program):
    signals = NativeSignals(program.native)
    assert {entry.name for entry in signals.known() if entry.stop} == {
        *("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")
    }
    program.say("U")
    assert program.heard() == "done U"
    signals.stop_at(["SIGUSR1"])
    assert [entry.name for entry in signals.known() if entry.stop] == ["SIGUSR1"]
    program.say("U")
    stopped, thread, _ = program.stop()
    found = signals.info(thread)
    assert (stopped, found.name, found.sender, found.address) == ("signal", "SIGUSR1", 0, None)
    program.native.threads.resume(thread)
    assert program.heard() == "done U"
    with pytest.raises(GdbError, match="SIGNOSUCH"):
        signals.stop_at(["SIGNOSUCH"])


def test_a_real_time_signal_has_the_name_that_gdb_gives_it(program):
    signals = NativeSignals(program.native)
    signals.stop_at(["SIG37"])
    os.kill(program.process.pid, 37)
    stopped, thread, _ = program.stop()
    found = signals.info(thread)
    assert (stopped, found.name, found.sender) == ("signal", "SIG37", os.getpid())
    assert found.text == f"SIG37 (Real-time signal 3), sent by process {os.getpid()}"


MAPS = """\
00400000-00500000 r-xp 00000000 08:01 1 /bin/program
00500000-00600000 rw-p 00000000 00:00 0 [heap]
7f0000000000-7f0000001000 ---p 00000000 00:00 0
7f0000001000-7f0000100000 rw-p 00000000 00:00 0
"""


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (0x600010, "unmapped: 16 bytes past the end of [heap]"),
        (0x3FFFF8, "unmapped: 8 bytes before the start of /bin/program"),
        (0x400010, "read-only memory (/bin/program)"),
        (0x500010, "writable memory ([heap])"),
        (0x7F0000000FF8, "just beyond this thread's stack: it has overflowed"),
        (0x7F0080000000, "unmapped memory: freed, or never the program's"),
    ],
)
def test_what_an_address_is(address, text):
    assert described(address, areas(MAPS), 0x7F0000001010) == text


def test_areas_of_a_map():
    assert areas(MAPS)[1] == Area(0x500000, 0x600000, "rw-p", "[heap]")
    assert str(areas(MAPS)[2]) == "anonymous memory"
