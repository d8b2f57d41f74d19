"""Native code that holds the GIL: stepped into, looked at in both languages, left again."""

import pytest

from kit.debugged_program import source_line
from pyharness.debugger.native.in_program.asking import NativeAsking
from pyharness.debugger.python.dap_client import RequestError
from pyharness.model.errors import HarnessError, UsageError

pytestmark = pytest.mark.rotated_tests(turns=8)


def at(stop):
    return stop.frame.language, stop.frame.function, stop.frame.line


def test_into_a_function_that_holds_the_gil_and_out(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("held"))
        assert at(program.into()) == ("native", "crossing::held", source_line("held"))
        assert program.evaluate("value") == "1"
        assert program.evaluate("py:local.__name__") == "'local'"
        assert program.evaluate("py:[n for n in (1, 2)]") == "[1, 2]"
        shown = [frame for frame in program.stack() if not frame.plumbing]
        assert [(frame.language, frame.function) for frame in shown] == [
            ("native", "crossing::held"),
            ("python", "main"),
            ("python", "<module>"),
        ]
        assert shown[1].line == crossing.line("held")
        assert at(program.into()) == ("native", "crossing::scaled", source_line("scaled"))
        assert at(program.out())[:2] == ("native", "crossing::held")
        assert at(program.out()) == ("python", "main", crossing.line("released"))
        assert program.evaluate("a") == "3"
        assert program.finish() == 7
    assert crossing.output.startswith("3 7 6 16 ")


def test_frames_are_counted_outwards_and_one_that_is_not_there_is_refused(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("released"))
        assert program.evaluate("a", level=0) == "3"
        with pytest.raises(RequestError, match="'a' is not defined"):
            program.evaluate("a", level=1)
        for level, expression in ((2, "1"), (99, "1"), (-1, "1")):
            with pytest.raises(UsageError, match=f"There is no frame {level}"):
                program.evaluate(expression, level)
        assert at(program.into())[:2] == ("native", "crossing::released")
        assert [program.evaluate("py:'a' in locals()", level) for level in (0, 1)] == ["True", "False"]
        for expression, why in (("value", "There is no native frame 399"), ("py:1", "There is no frame 399")):
            with pytest.raises(UsageError, match=why):
                program.evaluate(expression, 399)
        assert program.evaluate("value") == "2"
        assert program.finish() == 7


def test_over_inside_native_code_and_off_its_end(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to("native:released")
        stops = [program.over() for _ in range(6)]
        lines = [stop.frame.line for stop in stops if stop.frame.language == "native"]
        assert lines[:2] == [source_line("released"), source_line("released_return")]
        assert at(next(stop for stop in stops if stop.frame.language == "python")) == (
            "python",
            "main",
            crossing.line("call"),
        )


def test_native_code_calls_back_into_python(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("call"))
        assert at(program.into())[:2] == ("native", "crossing::call")
        program.over()
        assert at(program.into()) == ("python", "local", crossing.line("local"))
        shown = [frame.function for frame in program.stack() if not frame.plumbing]
        assert shown == ["local", "crossing::call", "main", "<module>"]
        assert at(program.over()) == ("python", "local", crossing.line("local_return"))
        stop = program.out()
        assert at(stop)[:2] == ("native", "crossing::call")
        assert at(program.out()) == ("python", "main", crossing.line("nothing"))


def test_into_at_the_last_line_of_a_callback_comes_back_to_native_code(debugged):
    """debugpy shows the Python frame below as soon as a function returns: the native code between is not yet done."""
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("local_return"))
        assert at(program.into()) == ("native", "crossing::call", source_line("call_back"))
        assert at(program.over()) == ("native", "crossing::call", source_line("call_return"))
        assert at(program.out()) == ("python", "main", crossing.line("nothing"))


@pytest.mark.parametrize("step", ["out", "over", "into"])
def test_out_of_a_callback_that_raises(debugged, step):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("refuses"))
        assert at(getattr(program, step)())[:2] == ("python", "guarded")
        assert program.finish() == 7


def test_a_callback_runs_within_over(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(f"native:extension.cpp:{source_line('call_back')}")
        assert at(program.over()) == ("native", "crossing::call", source_line("call_return"))
        assert program.evaluate("back") == "5"


def test_out_to_a_native_caller_runs_callbacks_and_not_past_an_exception(debugged):
    relay = debugged("core_relay.py")
    with relay.start() as program:
        program.run_to("native:crossing::call")
        assert at(program.out()) == ("native", "crossing::relay", source_line("relay"))
        assert at(program.over()) == ("native", "crossing::relay", source_line("relay_return"))
        assert at(program.into())[:2] == ("native", "crossing::call")
        assert at(program.out()) == ("native", "crossing::relay", source_line("relay_return"))
        assert at(program.out()) == ("python", "main", relay.line("library"))
        program.run_to(f"native:extension.cpp:{source_line('call_back')}")
        assert at(program.over()) == ("native", "crossing::call", source_line("call_return"))
        assert at(program.out()) == ("python", "main", relay.line("refused"))
        program.run_to("native:crossing::call")
        assert at(program.out()) == ("python", "main", relay.line("handler"))
        assert program.finish() == 0


def test_a_cpp_exception_goes_on_to_its_python_handler(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("fail"))
        assert at(program.into())[:2] == ("native", "crossing::fail")
        stop = program.out()
        assert (stop.frame.language, stop.frame.function) == ("python", "fails")
        assert program.finish() == 7


def test_python_places_can_be_set_while_the_gil_is_held(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to("native:held")
        assert at(program.run_to(crossing.at("nothing"))) == ("python", "main", crossing.line("nothing"))
        program.run_to("native:held")
        assert at(program.run_to(crossing.at("fails"))) == ("python", "main", crossing.line("fails"))


def test_a_step_that_could_not_begin_can_be_taken_again(debugged, monkeypatch):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("held"))
        assert at(program.into()) == ("native", "crossing::held", source_line("held"))
        with monkeypatch.context() as patched:
            patched.setattr(NativeAsking, "ask_agent", _refuse)
            with pytest.raises(HarnessError, match="cannot be asked"):
                program.over()
        assert program.stack()[0].line == source_line("held")
        assert at(program.over())[:2] == ("native", "crossing::held")
        assert program.finish() == 7


def _refuse(*_):
    raise HarnessError("Python cannot be asked")
