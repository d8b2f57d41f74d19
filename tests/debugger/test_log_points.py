"""Log points and hit conditions: in both languages and at ops, alone and several at one place; a step goes through."""

from pathlib import Path

import pytest

from kit.builds import CROSSING
from kit.marks import line_of
from pyharness.debugger.api.debug import debug
from pyharness.model.errors import HarnessError, UsageError

pytestmark = pytest.mark.rotated_tests(turns=6)


def native(mark):
    return f"native:{CROSSING}:{line_of(mark, Path(CROSSING))}"


def test_a_hit_condition_in_each_language(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(f"{crossing.at('element')} hits 2")
        assert program.evaluate("number") == "1"
        program.run_to("native:tick if n > 1 hits >= 3")
        assert program.evaluate("n") == "4"
        program.run_to(f"{crossing.at('loop')} hits % 3")
        assert program.evaluate("number") == "2"


def test_doubled_braces_are_braces(debugged):
    crossing, said = debugged("core_crossing.py"), []
    with crossing.start() as program:
        program.log(f"{crossing.at('element')} hits 2", "{{n}} {number} {{{number}}} {len({1: 2})} }", said.append)
        program.log("native:tick hits 1", "{{n}} {n}", said.append)
        assert program.resume() is None
    assert sorted(said) == ["{n} 0", "{n} 1 {1} 1 }"]


def test_a_message_that_says_nothing(debugged):
    with debugged("core_crossing.py").start() as program, pytest.raises(UsageError, match="says something"):
        program.log("native:tick", "")


def test_what_a_message_sees(debugged):
    crossing, said = debugged("core_crossing.py"), []
    with crossing.start(eval_timeout=0.5) as program:
        names = "{[*locals()]} {sys._getframe().f_code.co_name}"
        program.log(f"{crossing.at('element')} hits 1", names, said.append)
        program.run_to(crossing.at("print"))
        program.log(crossing.at("print"), "never again")
    assert said == ["['number'] <module>"]


def test_a_message_that_does_not_end_or_is_endless(debugged):
    crossing, said = debugged("core_crossing.py"), []
    with crossing.start(eval_timeout=0.5) as program:
        program.log(f"{crossing.at('element')} hits 1", "{[_ for _ in iter(int, 1)]} {number}", said.append)
        program.log(f"{crossing.at('element')} hits 2", "{'x' * (100 << 20)}", said.append)
        assert program.run_to(f"{crossing.at('loop')} if [_ for _ in iter(int, 1)]").reason == "breakpoint"
    ended, long = said
    assert ended == "<TimeoutError: it took longer than 0.5 s and was ended> 0"
    assert long.startswith("xxx")
    assert long.endswith(f"xxx… and {(100 << 20) - (1 << 16)} characters more")


def test_a_long_message_of_native_code_is_cut_too(debugged):
    crossing, said = debugged("core_crossing.py"), []
    with crossing.start() as program:
        program.log("native:held hits 1", "y" * 70000, said.append)
        program.run_to(crossing.at("released"))
    (long,) = said
    assert long == f"{'y' * (1 << 16)}… and {70000 - (1 << 16)} characters more"


def test_an_op_that_is_counted(debugged):
    graph, said = debugged("core_graph.py"), []
    with graph.start() as program:
        program.log("op:aten::add hits >= 2", "added", said.append)
        assert program.run_to("op:aten::relu hits 3").reason == "breakpoint"
        assert program.evaluate("py:add.shape[0]") == "3"
    assert said == ["added", "added"]


def test_an_op_that_a_generated_line_calls_has_its_tensors(debugged):
    graph, said = debugged("core_graph.py"), []
    with graph.start() as program:
        program.log("op:aten::relu", "of {in0}", said.append)
        assert program.run_to("op:aten::relu hits 3").reason == "breakpoint"
    assert said
    assert all(line.startswith("of Tensor float32 [") for line in said), said


AT_AN_OP = {
    "{in0[1, 0]} of {in0.shape}": "2.0 of [3, 2]",
    "{in0[1, 0:1]}, {in0[-1][0]}, {in0[2:]}": "[2.0], 2.0, [[2.0, 2.0]]",
    "{in1}, {in2}": "Tensor float32 [2] cpu [1.0, 1.0], 1",
    "{in0[3]}": "<in0[3] is out of range: in0 has 3 elements. Items are counted from 0, or from the end with -1.>",
    "{in0[0, 0, 0]}": "<in0[0, 0, 0] has one index too many: in0[0, 0] is 2.0. "
    "Give at most an index for each dimension.>",
    "{in2.shape}": "<in2.shape: in2 is 1, no tensor. {has}>",
    "{in0.sum()}": "<in0.sum() is more than can be read from memory. {has}>",
    "{in0[0, 0]:.2f}": "<in0[0, 0]:.2f is more than can be read from memory. {has}>",
    "{in3}": "<in3 is no value of this stop: {has}>",
    "{py:x}": "<x: no Python is run at an op. Of a tensor, in0.shape, in0[0] and in0[0:2] can be read>",
}


def test_what_an_op_is_given_is_read_from_memory_and_a_message_says_of_what_more_it_cannot(tmp_path):
    program, said = tmp_path / "added.py", []
    program.write_text("import torch\nx = torch.ones(3, 2) + 1\ny = x + torch.ones(2)\n")
    with debug(program) as running:
        for message in AT_AN_OP:
            running.log("op:aten::add hits 2", message, said.append)
        assert running.resume() is None
    has = "aten::add has in0, in1, in2; out0 only after it. Of a tensor, in0.shape, in0[0] and in0[0:2] can be read."
    assert said == [each.replace("{has}", has) for each in AT_AN_OP.values()]


LISTED = {
    "{in0}": "[float32[2, 3], float32[1, 3]]",
    "{in0[1].shape} {in0[1][0, 2]} {in0[1][0:]}": "[1, 3] 0.0 [[0.0, 0.0, 0.0]]",
    "{in1}": "0",
    "{in0[2]}": "<in0[2] is out of range: in0 has 2 elements. Items are counted from 0, or from the end with -1.>",
}


def test_the_tensors_of_a_list_are_counted_as_in_a_condition(tmp_path):
    program, said = tmp_path / "joined.py", []
    program.write_text("import torch\ntorch.cat([torch.ones(2, 3), torch.zeros(1, 3)])\n")
    with debug(program) as running:
        for message in LISTED:
            running.log("op:aten::cat", message, said.append)
        assert running.resume() is None
    assert said == [*LISTED.values()]


def test_a_place_is_logged_and_the_program_runs_on(debugged):
    crossing = debugged("core_crossing.py")
    said = []
    with crossing.start() as program:
        program.log(crossing.at("element"), "n={number} {number * 2:>3} {nosuch}", said.append)
        program.log("native:tick hits % 2", "tick {n}, {n * 2}, {nosuch}", said.append)
        program.log("native:scaled if factor == 3", "{value} of {factor}", said.append)
        assert program.run_to(crossing.at("print")).reason == "breakpoint"
    nosuch = "<NameError: name 'nosuch' is not defined>"
    ticks = [line for line in said if line.startswith("tick")]  # of gdb: what debugpy says may overtake it
    assert [line for line in said if line.startswith("n=")] == [f"n={n}   {2 * n} {nosuch}" for n in range(3)]
    assert [line.split("<")[0] for line in ticks] == ["tick 1, 2, ", "tick 3, 6, ", "tick 5, 10, "]
    assert 'No symbol "nosuch" in current context.' in ticks[-1]
    assert said.count("2 of 3") == 1


def test_several_at_one_place_are_each_their_own(debugged):
    crossing = debugged("core_crossing.py")
    first, second = [], []
    with crossing.start() as program:
        program.log(crossing.at("element"), "a{number}", first.append)
        gone = program.log(crossing.at("element", "number > 0"), "b{number}", second.append)
        stays = program.set_breakpoint(crossing.at("element", "number == 1"))
        assert program.resume().frame.line == program.run_to(crossing.at("element", "number == 2")).frame.line
        assert (first, second) == (["a0", "a1", "a2"], ["b1", "b2"])
        program.clear_breakpoint(gone)
        program.clear_breakpoint(stays)
        program.run_to(crossing.at("print"))
    assert (first, second) == (["a0", "a1", "a2"], ["b1", "b2"])


def test_a_place_that_was_set_is_there_after_a_run_to_it(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.set_breakpoint(crossing.at("loop"))
        program.run_to(crossing.at("loop", "number == 1"))
        assert program.evaluate("number") == "0"
        program.resume()
        assert program.evaluate("number") == "1"


def test_a_step_over_a_call_goes_through_places_that_do_not_stop(debugged):
    crossing = debugged("core_crossing.py")
    said = []
    with crossing.start() as program:
        program.log("native:scaled", "{value}", said.append)
        program.set_breakpoint("native:scaled hits 90")
        program.run_to(native("held"))
        before = program.stop.frame.line
        assert program.over().frame.line == before + 1
        assert program.out().frame.line == crossing.line("held") + 1
    assert said[0] == "1"


def test_what_cannot_be_logged_is_said_at_once(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        with pytest.raises(UsageError, match="is not a Python expression"):
            program.log(crossing.at("element"), "{number +}")
        with pytest.raises(UsageError, match="a brace that is not closed"):
            program.log("native:tick", "n={n")
        with pytest.raises(UsageError, match="'often' is not understood"):
            program.run_to("native:tick hits often")
        with pytest.raises(HarnessError, match="hits 99") as error:
            program.run_to("native:tick hits 99")
        assert "not as often as its hit condition asks for" in error.value.remedy


def test_a_condition_of_a_log_point_that_raises_is_noted_and_stops_nothing(debugged, caplog):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.log(crossing.at("loop", "nosuch > 1"), "never")
        program.run_to(crossing.at("print"))
    (noted,) = [each.getMessage() for each in caplog.records]
    place = crossing.at("loop").removeprefix("py:")
    assert noted == f"The condition 'nosuch > 1' at {place} raised NameError: name 'nosuch' is not defined."
