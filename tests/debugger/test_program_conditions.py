"""Conditions on both sides, and places that are asked for again."""

import pytest

from pyharness.model.errors import HarnessError

pytestmark = pytest.mark.rotated_tests(turns=6)


def test_a_python_condition(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("loop", "number == 4"))
        assert program.evaluate("number") == "4"
        assert program.evaluate("g") == "7"


def test_a_native_condition(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to("native:tick if n > 3")
        assert program.evaluate("n") == "4"
        program.run_to("native:tick if n > 3")
        assert program.evaluate("n") == "5"


def test_a_condition_is_tested_in_a_library_that_is_loaded_later(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to("native:held if value == 2")
        assert program.evaluate("py:number") == "2"


def test_a_condition_on_a_graph_node(debugged):
    graph = debugged("core_graph.py")
    with graph.start() as program:
        program.run_to("fx:add if x.shape[0] > 2")
        assert program.evaluate("x.shape[0]") == "3"
        program.run_to("fx:add if x.shape[0] > 2")
        assert program.evaluate("x.shape[0]") == "4"


def test_the_same_place_again_and_again(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        for wanted in range(4):
            assert program.run_to("native:tick").frame.function == "crossing::tick"
            assert program.evaluate("n") == str(wanted)
        for wanted in range(3):
            program.run_to(crossing.at("loop"))
            assert program.evaluate("number") == str(wanted)


@pytest.mark.parametrize("where", ["native:held if valeu > 3", "native:tick if n >"])
def test_a_bad_native_condition_is_said(debugged, where):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        with pytest.raises(HarnessError, match="condition") as error:
            program.run_to(where)
        assert error.value.exit_code == 2
        assert program.finish() == 7


def test_a_bad_native_condition_at_a_stop_is_said(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to("native:held")
        with pytest.raises(HarnessError, match="condition"):
            program.run_to("native:tick if nothing_of_that_name")
        assert program.evaluate("value") == "1"  # still standing there
        assert program.run_to("native:tick").frame.function == "crossing::tick"


def test_a_python_condition_that_does_not_compile_is_said(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program, pytest.raises(HarnessError, match="condition") as error:
        program.run_to(crossing.at("loop", "number =="))
    assert error.value.exit_code == 2


def test_a_python_condition_that_raises_stops_there_and_says_so(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        for often in ("", " (2 times so far)"):
            stop = program.run_to(crossing.at("loop", "no_such_name"))
            assert stop.condition_failed
            assert stop.reason == "breakpoint"
            assert stop.frame.line == crossing.line("loop")
            problem = "raised NameError: name 'no_such_name' is not defined"
            assert stop.note == f"The condition 'no_such_name' at {stop.frame.file}:{stop.frame.line} {problem}{often}."
        assert not program.run_to(crossing.at("loop", "number == 4")).condition_failed
        assert program.evaluate("number") == "4"


@pytest.mark.parametrize(
    "condition", ["exit(3)", "os._exit(3)", "(_ for _ in ()).throw(GeneratorExit)", "[] < {}", "1 / 0"]
)
def test_whatever_a_python_condition_raises_does_not_reach_the_program(debugged, condition):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        assert program.run_to(crossing.at("loop", condition)).condition_failed
        assert program.finish() == 7
    assert "Exception ignored" not in crossing.output


def test_a_condition_on_a_graph_node_that_raises(debugged):
    graph = debugged("core_graph.py")
    with graph.start() as program:
        stop = program.run_to("fx:add if x")
        assert stop.condition_failed
        assert "raised RuntimeError: Boolean value of Tensor" in stop.note


def test_a_native_condition_that_cannot_be_tested_stops_there_and_says_so(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        stop = program.run_to("native:tick if *(int *) 8 == n")
        assert stop.condition_failed
        assert stop.frame.function == "crossing::tick"
        assert "could not be tested: Cannot access memory at address 0x8" in stop.note
        assert not program.run_to("native:tick if n > 3").condition_failed


def test_a_condition_knows_the_rank_that_the_program_has_no_name_for(debugged):
    crossing, said = debugged("core_crossing.py"), []
    with crossing.start(env={"RANK": "3", "WORLD_SIZE": "8"}) as program:
        program.log("native:tick if rank == 3 && n == 1", "rank {rank} of {n}", said.append)
        program.run_to(crossing.at("element", "rank == 3 and number == 1"))
        program.run_to("native:tick if rank==3 && n > 2")
        assert program.evaluate("n") == "3"
        with pytest.raises(HarnessError, match="rank == 4"):
            program.run_to("native:tick if rank == 4")
    assert said == ["rank 3 of 1"]


def test_a_program_that_is_no_rank_has_none(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start(env={"RANK": ""}) as program:
        with pytest.raises(HarnessError, match='No symbol "rank"'):
            program.run_to("native:tick if rank == 3")
        assert program.run_to(crossing.at("element", "rank == 3")).condition_failed
