"""Lines that were passed without a stop are told no more (Python 3.12 on), until somebody sets a place or steps."""

import subprocess

import pytest

from kit.interpreters import cases, interpreters
from kit.paths import PROGRAMS, ROOT

pytestmark = pytest.mark.rotated_tests(turns=6)
PROGRAM = "quiet_lines.py"
MONITORING = cases(name for name in interpreters() if not name.startswith(("3.9", "3.10", "3.11")))
TOLD = {
    "of_lines_of_a_step": "place 3 other 0\nplace 3 other 3\n",
    "of_starts": "watched 1 unwatched 3\n",
    "of_exceptions": "inner 0 last 3\n",
    "of_exceptions_of_a_step": "inner 0\ninner 3\n",
    "of_lines_where_asking_fails": "place 3 other 3\n" * 2,
}
"""Which events of ``sys.monitoring`` come through to a debugger's callbacks, of three calls."""


@pytest.mark.parametrize("python", cases(interpreters()))
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another thread"])
def test_steps_and_new_places_see_them(debugged, python, beside):
    program = debugged(PROGRAM)
    words = ["beside"] if beside else []
    with program.start(*words, python=interpreters()[python]) as it:
        rare = it.set_breakpoint(program.at("rare", "count == 1000"))
        assert it.resume().frame.line == program.line("rare")  # a thousand times past the other lines
        assert it.over().frame.line == program.line("behind")
        it.clear_breakpoint(rare)
        line = it.set_breakpoint(program.at("returns", "count == 1000"))
        assert it.resume().frame.line == program.line("returns")
        it.clear_breakpoint(line)
        it.run_to(program.at("second"))
        line = it.set_breakpoint(program.at("sums", "number == 999"))
        assert it.resume().frame.line == program.line("sums")
        assert [it.over().frame.line - program.line("sums") for _ in range(5)] == [1, 2, 3, -2, 4]
        it.clear_breakpoint(line)
        assert it.resume() is None
    assert program.output == "999003 999003\n"


@pytest.mark.parametrize("python", MONITORING)
def test_it_stands_in_front_of_debugpys_callbacks(debugged, python):
    program = debugged(PROGRAM)
    with program.start("callbacks", python=interpreters()[python]) as it:
        it.run_to(program.at("first"))
        it.set_breakpoint(program.at("rare", "count < 0"))
        assert it.resume() is None
    assert program.output == "start_event\nline_event\n999003 999003\n"


@pytest.mark.parametrize("python", cases(name for name in interpreters() if name.startswith("3.12")))
def test_code_without_a_breakpoint_keeps_its_superinstructions(debugged, python):
    """CPython 3.12 takes them out of whatever it instruments: where it starts, goes on, and while it runs."""
    program = debugged("superinstructions.py")
    bare = [interpreters()[python], str(PROGRAMS / "superinstructions.py")]
    alone = subprocess.run(bare, capture_output=True, text=True, check=True)
    with program.start(python=interpreters()[python]) as it:
        it.set_breakpoint(program.at("place"))
        assert it.resume().frame.line == program.line("place")
        assert it.resume() is None
    assert "starts 0" not in alone.stdout
    assert program.output == alone.stdout


@pytest.mark.parametrize("python", MONITORING)
@pytest.mark.parametrize("case", sorted(TOLD))
def test_what_is_told(python, case):
    command = [interpreters()[python], str(PROGRAMS / "monitored_events.py"), case]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", TOLD[case])
