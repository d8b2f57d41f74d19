"""ph- commands on the Python side: a real gdb, a program without torch, so that each run takes half a second."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kit.gdb import PROGRAM, Gdb, at
from kit.interpreters import cases, interpreters
from kit.marks import line_of
from kit.paths import PROGRAMS, ROOT

pytestmark = pytest.mark.rotated_tests(turns=6)


def test_stops_at_a_line_and_goes_on_line_by_line(tmp_path):
    Gdb(
        tmp_path,
        f"ph-break {PROGRAM.name}:{line_of('inner', PROGRAM)}",
        "ph-run",
        "ph-over",
        "ph-over",
        "ph-over",
        "ph-print z, x",
        "ph-out",
        "kill",
        environment={"PYTHONPATH": str(ROOT)},
    ).has(
        f"Breakpoint 1, inner () at {PROGRAM}:{line_of('inner', PROGRAM)}",
        "y = x + 1",
        f"inner () at {PROGRAM}:{line_of('inner_return', PROGRAM)}",
        f"outer () at {PROGRAM}:{line_of('call', PROGRAM) + 1}",
        f"outer () at {PROGRAM}:{line_of('fail', PROGRAM)}",
        "(1, 0)",
        f"main () at {PROGRAM}:{line_of('loop', PROGRAM) - 1}",
    )


def test_over_an_exception_lands_in_its_handler_and_into_a_call_lands_inside(tmp_path):
    Gdb(tmp_path, f"ph-break {at('fail')}", "ph-run", "ph-over", "ph-over", "kill").has(
        f"outer () at {PROGRAM}:{line_of('fail', PROGRAM)}",
        f"{line_of('handler', PROGRAM) - 1}\t",
        f"{line_of('handler', PROGRAM)}\t",
    )
    Gdb(
        tmp_path,
        f"ph-break {at('fail')}",
        f"ph-break {at('sum')}",
        "ph-run",
        "ph-into",
        "delete 1",
        "continue",
        "ph-into",
    ).has(
        f"fail () at {PROGRAM}:{line_of('raise', PROGRAM)}",
        "Breakpoint 2, main ()",
        f"numbers () at {PROGRAM}:{line_of('yield', PROGRAM)}",
    )


def test_into_a_line_that_runs_nothing_of_the_users_says_so(tmp_path):
    Gdb(tmp_path, f"ph-break {at('main')}", "ph-run", "ph-into", "kill").has(
        f"Note: line {line_of('main', PROGRAM)} ran no function of yours"
    )


def test_a_condition_is_python_and_one_that_fails_stops_with_the_reason(tmp_path):
    gdb = Gdb(tmp_path, f"ph-break {at('inner')} if x == 2", "ph-run", "ph-print x", "ph-break", "kill")
    gdb.has("inner () at", "\n2\n", f"1  py:{PROGRAM}:{line_of('inner', PROGRAM)} if x == 2  reached 1 time\n")
    Gdb(tmp_path, f"ph-break {at('inner')} if nosuch", "ph-run", "kill").has(
        "Note: condition 'nosuch' failed: NameError"
    )


def test_gdbs_own_commands_work_on_places(tmp_path):
    gdb = Gdb(
        tmp_path,
        f"ph-break {at('inner')}",
        f"ph-break {at('handler')}",
        f"ph-break {at('print')}",
        "ignore 1 1",
        "disable 2",
        "run -m pyharness.debuggee " + str(PROGRAM),
        "ph-print x",
        "delete 1",
        "continue",
        "continue",
    )
    gdb.has("Breakpoint 1, inner () at", "\n1\n", "Breakpoint 3, main () at", "total -3", "exited with code 03")
    assert gdb.status == 0


def test_a_place_set_at_a_stop_counts_for_frames_that_already_run(tmp_path):
    Gdb(tmp_path, f"ph-break {at('inner')}", "ph-run", "delete 1", f"ph-break {at('print')}", "continue", "kill").has(
        "inner () at", f"Breakpoint 2, main () at {PROGRAM}:{line_of('print', PROGRAM)}"
    )


@pytest.mark.rotated
@pytest.mark.parametrize("start", ["ph-run", f"run -m pyharness.debuggee {PROGRAM}"])
@pytest.mark.parametrize(
    ("place", "hint"),
    [
        ("fx:blocks.0.norm", "torch.fx generated no code in this run"),
        ("native:nosuch_function", "No library that was loaded has it"),
        (f"{at('inner')} if x > 10", "times, its condition was never true there"),
    ],
)
def test_a_place_that_is_never_reached_is_an_error(tmp_path, start, place, hint):
    gdb = Gdb(tmp_path, f"ph-break {place}", start)
    assert gdb.status != 0, gdb.text
    gdb.has("total -3", "was never reached", hint)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nosuch.py:3", "There is no file 'nosuch.py'"),
        ("py:plain_line.py:3", "Did you mean plain_lines.py"),
        ("py:plain_lines.py", "names no line"),
        (f"{PROGRAM.name}:{line_of('exit', PROGRAM) + 50}", "is after the last line of code"),
        ("forward", "Write fx:forward or native:forward"),
        ("plain_lines.py:3 if x =", "is not a Python expression"),
        ("pi:train.py", "Did you mean py"),
    ],
)
def test_what_cannot_be_a_place_is_refused_at_once(tmp_path, place, message):
    gdb = Gdb(tmp_path, f"ph-break {place}", "ph-run")
    assert gdb.status != 0
    gdb.has(message)
    assert "total" not in gdb.text


def test_without_a_program_a_step_says_what_to_do(tmp_path):
    gdb = Gdb(tmp_path, "ph-into")
    assert gdb.status != 0
    gdb.has("The program is not being run", "ph-run")


def test_help_lists_every_command(tmp_path):
    gdb = Gdb(tmp_path, "ph-help", "ph-help into")
    gdb.has(
        *sorted(["ph-attach", "ph-break", "ph-help", "ph-into", "ph-out", "ph-over", "ph-run"]),
        "ph-into [native | FUNCTION]",
    )


def test_no_collection_looks_at_what_gdb_has_imported(tmp_path):
    """Neither at a stop nor when gdb ends, which would take a tenth of its start."""
    looked_at = "any(each is vars(pyharness.ingdb.commands) for each in gc.get_objects())"
    Gdb(tmp_path, f"python import gc, pyharness.ingdb.commands; print('looked at', {looked_at})").has("looked at False")


def test_a_program_without_the_native_half_still_runs(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['pyharness._trap'] = None", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyharness.debuggee", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 3
    assert "total -3" in done.stdout
    assert "native half not loaded" in done.stderr


@pytest.mark.parametrize("python", cases(name for name in interpreters() if name.startswith("3.12")))
def test_code_without_a_place_keeps_its_superinstructions(tmp_path, python):
    program = PROGRAMS / "superinstructions.py"
    alone = subprocess.run([interpreters()[python], str(program)], capture_output=True, text=True, check=True).stdout
    Gdb(
        tmp_path,
        f"ph-break {at('place', program)}",
        "ph-run",
        "continue",
        program=program,
        environment={"PYTHONPATH": str(ROOT), "PYHARNESS_PYTHON": interpreters()[python]},
    ).has(f"Breakpoint 1, place () at {program}", *alone.splitlines())
