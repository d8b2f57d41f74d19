"""Exception breakpoints of both languages, signals and crashes: where they stop, what they say, what they pass by."""

import pytest
from debugging import Debugging

pytestmark = pytest.mark.rotated_tests(turns=3)


PROGRAM = "dap_exceptions.py"


def info(program, stood):
    return program.client.request("exceptionInfo", threadId=stood.thread)


def raised(program, stood):
    """A stop for a Python exception: the function, the mark, the type and the message."""
    found = info(program, stood)
    assert stood.reason == "exception"
    assert found["details"]["typeName"] == found["exceptionId"]
    return stood.function, program.at(stood), found["exceptionId"], found["description"]


def named(program, stood):
    """The innermost frames that are somebody's own, and the line of the first."""
    frames = [frame for frame in program.stack(stood.thread) if "source" in frame]
    return [frame["name"] for frame in frames[:2]], frames[0]["line"]


def test_raised_ones_stop_by_their_type_and_by_a_base_of_it(dap):
    program = Debugging(dap.stdio(), PROGRAM).launch("begin")
    stood = program.stood()
    assert program.filter(("raised", "KeyError")) == [{"verified": True}]
    stood = program.run_on(stood)
    assert raised(program, stood) == ("refuse", "raise", "KeyError", "'on purpose'")
    trace = info(program, stood)["details"]["stackTrace"]
    assert "caught(KeyError)" in trace
    program.filter(("raised", "__main__.Wr?ng"))  # a class that the debugger could not import
    stood = program.run_on(stood)
    assert raised(program, stood) == ("refuse", "raise", "Wrong", "on purpose")
    program.filter(("raised", "ArithmeticError, RuntimeError"))
    stood = program.run_on(stood)
    assert raised(program, stood)[2:] == ("RuntimeError", "thrown")  # which pybind11 made of the one of C++
    program.filter(("uncaught", "Value*"))
    stood = program.run_on(stood)
    assert raised(program, stood) == ("refuse", "raise", "Wrong", "on purpose")
    assert info(program, stood)["breakMode"] == "unhandled"
    assert program.evaluate("kind.__name__", stood.frame) == "'Wrong'"
    assert program.run_out(stood) == 1
    assert "Wrong: on purpose" in program.output("stderr")
    program.leave()


def test_uncaught_ones_stop_unless_they_are_of_another_type(dap):
    program = Debugging(dap.stdio(), PROGRAM).launch(filters=[("uncaught", "KeyError"), "userUnhandled"])
    stood = program.stood()
    assert raised(program, stood)[1:] == ("no_copy", "Wrong", "no copy")  # it leaves the program's code for a library's
    program.filter(("uncaught", "KeyError"))
    assert program.run_out(stood) == 1
    program.leave()


def test_uncaught_ones_stop_in_each_kind_of_thread(dap):
    program = Debugging(dap.stdio(), "uncaught_in_threads.py").launch(filters=["uncaught"])
    stood = program.stood()
    stops = [raised(program, stood)]
    for _ in range(3):
        stood = program.run_on(stood)
        stops.append(raised(program, stood))
    ways = ["a target", "a method", "a plain thread"]
    assert stops == [
        *(("fails", "fails", "ValueError", way) for way in ways),
        ("<module>", "last", "LookupError", "at last"),
    ]
    assert program.run_out(stood) == 1
    assert "the program's own: ValueError\nthe program's own: ValueError\nend\n" in program.output()
    program.leave()


def test_uncaught_ones_stop_in_a_thread_that_c_made_where_its_function_has_a_breakpoint(dap):
    program = Debugging(dap.stdio(), "uncaught_in_cxx_threads.py").launch("begin", filters=["uncaught"])
    stood = program.stood()
    assert program.at(stood) == "begin"
    stood = program.run_on(stood)
    assert raised(program, stood) == ("body", "fails", "ValueError", "a thread of C")
    stood = program.run_on(stood)  # to the breakpoint, on the next thread
    stood = program.run_on(stood)
    assert raised(program, stood) == ("body", "fails", "ValueError", "a thread of C")
    assert program.run_out(stood) == 0
    program.leave()


def test_cxx_exceptions_and_signals(dap):
    program = Debugging(dap.stdio(), PROGRAM)
    program.launch(filters=[("cxxThrow", "runtime_error"), "cxxCatch", ("signals", "SIGUSR1, SIGUSR2")])
    stood, attempted = program.stood(), "std::runtime_error: attempted"
    assert (stood.reason, stood.body["text"]) == ("exception", attempted)
    assert named(program, stood) == (["crossing::fail", "crossing::attempt"], program.native_line("fail"))
    found = info(program, stood)
    assert (found["exceptionId"], found["description"]) == ("std::runtime_error", "attempted")
    assert found["details"]["fullTypeName"] == "std::runtime_error : std::exception"
    program.filter(("cxxThrow", "std::logic_error"), "cxxCatch", ("signals", "SIGUSR1"))
    stood = program.run_on(stood)
    assert stood.body["description"] == "Paused on catch of std::runtime_error"
    assert named(program, stood) == (["crossing::attempt", "<module>"], program.native_line("caught"))
    stood = program.run_on(stood)  # past a std::runtime_error that is thrown, and caught by pybind11
    assert (stood.reason, stood.body["description"]) == ("exception", "Paused on SIGUSR1")
    assert info(program, stood)["exceptionId"] == "SIGUSR1"
    assert named(program, stood)[0] == ["crossing::send", "<module>"]
    program.filter()
    assert program.run_out(stood) == 1
    assert "done" in program.output()
    program.leave()


def test_what_cannot_be_meant_is_said_and_the_rest_holds(dap):
    program = Debugging(dap.stdio(), PROGRAM).launch("begin")
    stood = program.stood()
    refused = {
        ("raised", "a+b"): "'a+b' is no name of a type",
        ("signals", "SIGUSER1"): "Did you mean SIGUSR1",
        ("signals", " "): "Name the signals",
    }
    for each, message in refused.items():
        (answer,) = program.filter(each)
        assert not answer["verified"]
        assert message in answer["message"]
    assert "There is no exception filter 'raise'" in program.client.refused(
        "setExceptionBreakpoints", filters=["raise"]
    )
    answers = program.client.request(
        "setExceptionBreakpoints",
        filters=["raised"],
        filterOptions=[{"filterId": "signals", "condition": "SIGNOPE"}],
    )["breakpoints"]
    assert [answer["verified"] for answer in answers] == [True, False]
    assert raised(program, program.run_on(stood))[2] == "KeyError"
    program.leave()


@pytest.mark.rotated
@pytest.mark.parametrize("crashes", [True, False])
def test_a_crash_is_a_stop_unless_it_is_not_wanted(dap, crashes):
    program = Debugging(dap.stdio(), PROGRAM).launch(args=["crash"], crashes=crashes)
    if crashes:
        stood = program.stood()
        assert stood.reason == "exception"
        assert info(program, stood)["exceptionId"] == "SIGSEGV"
        assert "at 0x0" in stood.body["text"]
        assert named(program, stood)[0][0] == "crossing::crash"
        assert program.evaluate("nowhere", stood.frame) == "0x0"
        python = next(frame["id"] for frame in program.stack(stood.thread) if frame["name"] == "<module>")
        assert program.variables(python)["caught"]["type"] == "function"  # read from memory
        refused = program.client.refused("evaluate", expression="caught.__name__.upper()", frameId=python)
        assert "cannot be evaluated" in refused
        refused = program.client.refused("evaluate", expression="py:1 + 1", frameId=stood.frame)
        assert "the native stop holds the GIL, and no Python code can run" in refused
        program.client.request("continue", threadId=stood.thread)
    assert program.run_out() == -11
    program.leave()
