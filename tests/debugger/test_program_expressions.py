"""Expressions that block, exit, print or read, at stops in both languages: they end, and the program goes on."""

import os
import re
import signal
import threading

import pytest

import pyharness
from pyharness.debugger.python.asking import StuckError
from pyharness.model.errors import HarnessError, UsageError

pytestmark = pytest.mark.rotated_tests(turns=5)


BLOCKING = ["blocks", "taken.acquire()", "waits.forever", "time.sleep(600)", "[1 for _ in iter(int, 1)]"]
ENDING = [
    "exit(3)",
    "sys.exit(3)",
    "os._exit(3)",
    "os.abort()",
    "os.kill(os.getpid(), 9)",
    "os.execvp('true', ['true'])",
    "sys.settrace(None)",
    "pdb.set_trace()",
]


def at_look(hostile, program, language):
    return program.run_to(hostile.at("look") if language == "py" else "native:held")


def failed(program, expression):
    with pytest.raises(HarnessError) as error:
        program.evaluate(f"py:{expression}")
    return str(error.value).rstrip()


@pytest.mark.parametrize("language", ["py", "native"])
def test_a_value_that_does_not_say_what_it_is(debugged, language):
    """``__class__`` raises, as that of werkzeug's proxies does outside of a request."""
    hostile = debugged("hostile_values.py")
    with hostile.start() as program:
        at_look(hostile, program, language)
        said = program.evaluate("py:lies")
        assert "Lies object" in said or "LookupError" in said
        assert program.evaluate("py:1 + 1") == "2"
        assert program.finish() == 7


@pytest.mark.parametrize("language", ["py", "native"])
def test_a_letter_that_no_source_has_is_refused_in_a_sentence(debugged, language):
    hostile = debugged("hostile_values.py")
    with hostile.start() as program:
        at_look(hostile, program, language)
        for prefix in ("", "py:", "native:"):
            with pytest.raises(UsageError, match="cannot be evaluated: it has a null character") as refused:
                program.evaluate(f"{prefix}value\0")
            assert refused.value.remedy == "Write it as an escape: '\\u0000'."
        assert "it has a surrogate that stands alone.\nWrite it as an escape" in failed(program, "'\ud800'")
        assert program.evaluate("py:ord('\\ud800')") == "55296"
        assert program.finish() == 7


def test_a_slice_of_a_pointer(debugged):
    with debugged("hostile_values.py").start() as program:
        program.run_to("native:held")
        value = program.evaluate("value")
        assert program.evaluate("(&value)[0:1]") == f"[{value}]"
        assert program.evaluate("native:(&value)[0:1]") == f"[{value}]"
        with pytest.raises(HarnessError, match="does not say how many elements follow"):
            program.evaluate("native:(&value)[0:]")
        assert program.finish() == 7


@pytest.mark.parametrize("language", ["py", "native"])
def test_a_value_without_a_text_hides_no_other(debugged, language):
    hostile = debugged("hostile_values.py")
    with hostile.start() as program:
        at_look(hostile, program, language)
        assert program.evaluate("py:big") == hex(16**5000)
        assert program.evaluate("py:-big") == hex(-(16**5000))
        assert re.fullmatch(r"<__main__.Opaque object at 0x\w+>", program.evaluate("py:opaque"))
        said = program.evaluate("py:raises")
        assert re.fullmatch(r"<__main__.Raises object at 0x\w+, whose __repr__ raised ValueError: no text>", said)
        said = program.evaluate("py:several")
        for part in ("Opaque object at", "ValueError: no text>, 0x1000", "SystemExit: 3 (the program goes on)>, 1]"):
            assert part in said
        assert "'raises': <__main__.Raises object" in program.evaluate("py:{'raises': raises}")
        assert program.finish() == 7


@pytest.mark.rotated
@pytest.mark.parametrize("language", ["py", "native"])
@pytest.mark.parametrize("thread", ["main", "other"])
def test_what_blocks_is_ended(debugged, language, thread):
    hostile = debugged("hostile_values.py")
    with hostile.start(eval_timeout=0.5) as program:
        for _ in range(1 + (thread == "other")):
            at_look(hostile, program, language)
        assert program.evaluate("py:number") == {"main": "1", "other": "2"}[thread]
        for expression in BLOCKING[:1] if thread == "other" else BLOCKING:
            said = program.evaluate(f"py:{expression}") if language == "py" and expression == "blocks" else ""
            said = said or failed(program, expression)
            assert "TimeoutError: it took longer than 0.5 s and was ended" in said, expression
        assert program.evaluate("py:1 + 1") == "2"
        assert program.finish() == 7
    assert hostile.output.splitlines()[-1].startswith("read")


@pytest.mark.parametrize("language", ["py", "native"])
def test_what_would_end_the_program_does_not(debugged, language, capfd):
    hostile = debugged("hostile_values.py")
    with hostile.start() as program:
        at_look(hostile, program, language)
        for expression in ENDING:
            said = failed(program, expression)
            assert "SystemExit: 3" in said or "in an expression is not passed on to the program" in said
        assert "spoken" not in hostile.output
        assert program.finish() == 7
    assert "Exception ignored" not in capfd.readouterr().err


@pytest.mark.parametrize("language", ["py", "native"])
def test_input_and_prints_are_not_the_programs(debugged, language):
    hostile = debugged("hostile_values.py")
    with hostile.start() as program:
        at_look(hostile, program, language)
        assert program.evaluate("py:print('one', 'two')") == "one two"
        assert program.evaluate("py:[print('first'), number]") == "first\n[None, 1]"
        assert "spoken by a repr" not in program.evaluate("py:number")
        assert program.evaluate("py:speaks") == "spoken by a repr\nSpeaks()"
        assert "EOFError" in failed(program, "input('? ')")
        assert failed(program, "[print('before'), 1 / 0]").startswith("before\n")
        assert program.finish() == 7
    lines = hostile.output.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("read")


@pytest.mark.parametrize("language", ["py", "native"])
def test_an_expression_may_load_what_the_debugger_is_told_of(debugged, language):
    hostile = debugged("hostile_values.py")
    with hostile.start() as program:
        at_look(hostile, program, language)
        assert program.evaluate("py:__import__('ctypes').CDLL('libz.so.1') is not None") == "True"
        assert program.evaluate("py:number") == "1"
        assert program.finish() == 7


@pytest.mark.parametrize("language", ["py", "native"])
def test_ctrl_c_ends_an_expression_and_nothing_else(debugged, language):
    hostile = debugged("hostile_values.py")
    with hostile.start(eval_timeout=600) as program:
        at_look(hostile, program, language)
        begun, wrote = os.pipe()
        interrupter = threading.Thread(target=lambda: os.read(begun, 1) and os.kill(os.getpid(), signal.SIGINT))
        interrupter.start()
        expression = f"[open('/proc/{os.getpid()}/fd/{wrote}', 'wb').write(b'x'), time.sleep(600)]"
        assert "InterruptedError: it was interrupted" in failed(program, expression)
        interrupter.join()
        os.close(begun)
        os.close(wrote)
        assert program.evaluate("py:number") == "1"
        assert program.finish() == 7


@pytest.mark.rotated
@pytest.mark.parametrize("language", ["py", "native"])
@pytest.mark.parametrize(
    "expression",
    ["[0] * 10**9", "list(iter(int, 1))", "(lambda kept: [kept.append('x' * 10**6) for _ in iter(int, 1)])([])"],
)
def test_what_allocates_without_end_is_ended(debugged, language, expression):
    hostile = debugged("hostile_values.py")
    with hostile.start(eval_timeout=600) as program:
        at_look(hostile, program, language)
        assert "MemoryError: it took more than 1 GiB" in failed(program, expression)
        assert program.evaluate("py:number") == "1"
        assert program.finish() == 7


def test_what_cannot_be_interrupted_is_said_and_the_session_goes_on(debugged):
    hostile = debugged("hostile_values.py")
    with hostile.start(eval_timeout=0.2) as program:
        at_look(hostile, program, "py")
        thread = at_look(hostile, program, "py").thread
        assert thread != program.pid
        program.evaluate("py:globals().update(ends=os.pipe()) or 1")
        descriptors = f"/proc/{program.pid}/fd"
        write = int(program.evaluate("py:ends[1]"))
        for expression in ("os.read(ends[0], 1)", "number"):
            with pytest.raises(StuckError, match=r"'os.read\(ends\[0\], 1\)' did not end in time"):
                program.evaluate(expression)
        assert program.stack()[0].function == "look"
        with open(f"{descriptors}/{write}", "wb") as ends:  # noqa: PTH123
            ends.write(b"x")
        assert program.over().frame.line == hostile.line("looked")
        assert program.evaluate("number") == "7"
        assert program.finish() == 7


@pytest.mark.parametrize("thread", ["main", "other"])
def test_a_call_of_cxx_that_blocks_is_ended(debugged, thread):
    hostile = debugged("hostile_values.py")
    with hostile.start(eval_timeout=0.5) as program:
        for _ in range(1 + (thread == "other")):
            at_look(hostile, program, "native")
        for _ in range(2):
            with pytest.raises(HarnessError, match=r"'\(int\)pause\(\)' took longer than 0.5 s and was ended"):
                program.evaluate("native:(int)pause()")
            assert program.evaluate("value") == {"main": "1", "other": "2"}[thread]
        assert program.out().frame.line == hostile.line("looked")
        assert program.finish() == 7


@pytest.mark.parametrize("leave", ["kill", "detach"])
def test_a_native_stop_with_what_cannot_be_interrupted_can_be_left(debugged, leave):
    hostile = debugged("hostile_values.py")
    with hostile.start(eval_timeout=0.2) as program:
        at_look(hostile, program, "native")
        at_look(hostile, program, "native")
        for expression in ("py:os.read(ends[0], 1)", "value"):
            with pytest.raises(HarnessError, match=r"did not end in time|is busy with it"):
                program.evaluate(expression.replace("ends[0]", "os.pipe()[0]"))
        getattr(program, leave)()


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), 1e9])
def test_a_limit_that_is_none_is_refused(seconds):
    with pytest.raises(UsageError, match="time limit"):
        pyharness.debug(__file__, eval_timeout=seconds)


def test_a_call_that_comes_to_a_breakpoint_is_left(debugged):
    hostile = debugged("hostile_values.py")
    with hostile.start() as program:
        stood = at_look(hostile, program, "native")
        scaled = program.set_breakpoint("native:scaled")
        for _ in range(2):
            with pytest.raises(HarnessError, match="came to a breakpoint, and was ended there"):
                program.evaluate("native:crossing::scaled(2, 3)")
            assert program.evaluate("value") == "1"
        program.clear_breakpoint(scaled)
        again = program.over()
        assert (again.thread, again.frame.function) == (stood.thread, "crossing::held")
        assert program.evaluate("py:number") == "1"
        assert program.finish() == 7


def test_an_expression_of_python_passes_native_breakpoints_by(debugged):
    """Whoever asks waits for its thread, which nobody could let go on; other threads stop as ever."""
    hostile = debugged("hostile_values.py")
    with hostile.start() as program:
        scaled = program.set_breakpoint("native:scaled")
        for language in ("py", "native"):
            at_look(hostile, program, language)
            assert program.evaluate("py:crossing.held(20)") == program.evaluate("py:crossing.held(20)")
        program.clear_breakpoint(scaled)
        assert program.finish() == 7
