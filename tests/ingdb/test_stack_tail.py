"""The outer part of a stack is reused only where registers and every byte of it are as they were."""

from dataclasses import replace

import pytest

from kit.gdb import Gdb
from kit.paths import ROOT
from pyharness.ingdb.stack.tail import StackTails
from pyharness.reading.stack.merge import NativeFrame

pytestmark = pytest.mark.rotated_tests(turns=2)

BASE = 0x7000
SIZE = 0x40


class Process:
    """A stack of frames of ``SIZE`` bytes, and what was asked of it."""

    def __init__(self, functions):
        self.frames = [
            NativeFrame(0x100 + level, BASE + SIZE * level, BASE + SIZE * (level + 1), function, handle=object())
            for level, function in enumerate(functions)
        ]
        self.memory = bytearray(SIZE * len(functions))
        self.registers = {frame.sp: (1, 2, 3) for frame in self.frames}
        self.unwound = 0

    def unwind(self):
        for frame in self.frames:
            self.unwound += 1
            yield frame

    def read(self, address, size):
        start = address - BASE
        if start < 0 or start + size > len(self.memory):
            raise OSError("not mapped")
        return bytes(self.memory[start : start + size])

    def registers_of(self, frame):
        return self.registers.get(frame.sp)


FUNCTIONS = ("kernel", "wrapper", "dispatcher", "call", "eval", "run", "main", "start")
KEY = (1, 1)


@pytest.fixture
def process():
    return Process(FUNCTIONS)


@pytest.fixture
def tails(process):
    tails = StackTails(process.registers_of, process.read, lambda function: function == "apply")
    assert tails.complete(KEY, process.unwind()) == process.frames
    process.unwound = 0
    return tails


def check(tails, process, unwound):
    """The stack is whole, and that many frames of it were unwound."""
    assert tails.complete(KEY, process.unwind()) == process.frames
    assert process.unwound == unwound


def test_frames_of_a_recursion_that_is_inlined_stay_apart():
    """They have one program counter, one stack pointer and one function."""
    process = Process(("depth", "depth", "depth", "run", "call", "eval", "main", "start"))
    for level in (1, 2):
        process.frames[level] = replace(process.frames[0])
    tails = StackTails(process.registers_of, process.read, lambda _function: False)
    assert tails.complete(KEY, process.unwind()) == process.frames
    assert tails.complete(KEY, process.unwind()) == process.frames


def test_only_the_inner_frames_are_unwound_again(tails, process):
    process.frames[0] = replace(process.frames[0], pc=0x105)
    check(tails, process, 2)


def test_the_caller_that_a_function_has_returned_to_stands_at_a_line_of_its_own(tails, process):
    """Where it called, it stood at the line of the call: one instruction before."""
    del process.frames[0]
    process.frames[0] = replace(process.frames[0], line=15)
    check(tails, process, 1)


def test_what_the_inner_frames_wrote_does_not_matter(tails, process):
    process.memory[SIZE - 1] = 7
    check(tails, process, 2)


def test_a_byte_of_an_outer_frame_has_all_inside_it_unwound(tails, process):
    process.memory[3 * SIZE] = 7
    check(tails, process, 6)  # the next joint is four frames out


def test_after_a_change_further_out_the_next_stack_joins_further_in(tails, process):
    process.memory[3 * SIZE] = 7
    check(tails, process, 6)
    process.unwound = 0
    check(tails, process, 2)
    process.memory[6 * SIZE] = 7  # what was taken over is looked at again
    process.unwound = 0
    check(tails, process, len(FUNCTIONS))


def test_a_register_that_differs_does_so_too(tails, process):
    process.registers[process.frames[1].sp] = (1, 2, 4)
    check(tails, process, 6)


def test_a_register_that_is_lost_joins_nothing(tails, process):
    process.registers = {}
    check(tails, process, 8)


def test_another_call_in_between_is_unwound(tails, process):
    process.frames[:1] = [replace(process.frames[0], sp=BASE - SIZE, cfa=BASE, function="inner"), process.frames[0]]
    check(tails, process, 3)


def test_what_is_inlined_is_not_taken_for_its_caller(tails, process):
    process.frames.insert(1, replace(process.frames[1], function="inlined"))
    check(tails, process, 3)


def test_memory_that_is_gone_joins_nothing(tails, process):
    del process.memory[-SIZE:]
    check(tails, process, 8)


def test_another_thread_has_a_stack_of_its_own(tails, process):
    assert tails.complete((1, 2), process.unwind()) == process.frames
    assert process.unwound == 8


def test_what_is_looked_up_elsewhere_is_unwound_each_time():
    process = Process(("kernel", "apply", "engine", "run", "main"))
    tails = StackTails(process.registers_of, process.read, lambda function: function == "apply")
    tails.complete(KEY, process.unwind())
    process.unwound = 0
    check(tails, process, 3)


COMPARE = """
python
import gdb
from pyharness.ingdb.stack import backtrace

def stack():
    return backtrace.merged_stack(gdb.selected_thread())

def compare():
    reused = stack()
    without = sum(frame.handle is None for frame in backtrace._unwound(gdb.selected_thread(), backtrace._MAX_NATIVE))
    backtrace._tails._known.clear()
    backtrace.forget_threads()
    print(f"STEP same={reused == stack()} reused={without}")
stack()
end
"""


def test_a_stack_that_is_reused_is_the_one_that_gdb_unwinds(tmp_path):
    steps = ["next", "python compare()"] * 4
    program = ROOT / "tests/programs/plain_crossing.py"
    gdb = Gdb(tmp_path, "ph-break native:rms_norm_cpu", "ph-run", COMPARE, *steps, program=program)
    said = [line.split() for line in gdb.text.splitlines() if line.startswith("STEP")]
    assert [words[1] for words in said] == ["same=True"] * 4, gdb.text
    assert all(int(words[2].removeprefix("reused=")) > 10 for words in said), gdb.text
