"""What *into* lands in: the user's own code in either language, or the next line with the reason."""

import pytest

pytestmark = pytest.mark.rotated_tests(turns=5)


def test_a_line_that_runs_nothing_of_the_users_says_so(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("nothing"))
        stop = program.into()
        assert (stop.reason, stop.frame.language) == ("step", "python")
        assert stop.frame.line == crossing.line("comprehension")
        assert stop.note.startswith(f"line {crossing.line('nothing')} ran none of your ")
        assert stop.note.endswith(" native functions")


def test_a_program_without_native_code_says_so(debugged):
    lines = debugged("plain_lines.py")
    with lines.start() as program:
        program.run_to(lines.at("inner"))
        assert "no loaded library of yours has line tables (-g, and not stripped)" in program.into().note


def test_a_generated_line_is_named_by_its_op(debugged):
    graph = debugged("core_graph.py")
    with graph.start() as program:
        program.run_to("fx:relu")
        assert "relu" in program.into().note


def test_into_python_first_then_native(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("fails"))
        assert program.into().frame.function == "fails"
        program.run_to(crossing.at("fail"))
        assert program.into().frame.function == "crossing::fail"


def test_into_native_skips_python(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("fails"))
        stop = program.into_native()
        assert (stop.frame.language, stop.frame.function) == ("native", "crossing::fail")


def test_into_a_library_that_the_line_itself_loads(debugged):
    late = debugged("core_late.py")
    with late.start() as program:
        program.run_to(late.at("import"))
        stop = program.into()
        assert stop.frame.language == "native"
        assert stop.frame.file.endswith("extension.cpp")


def test_into_at_the_start_is_the_first_line(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        stop = program.into()
        assert (stop.reason, stop.frame.function, stop.frame.file) == ("entry", "<module>", crossing.script)


def test_off_the_end_of_the_program(debugged):
    late = debugged("core_late.py")
    with late.start() as program:
        program.run_to(late.at("last"))
        assert program.over() is None
        assert program.exit_code == 0
