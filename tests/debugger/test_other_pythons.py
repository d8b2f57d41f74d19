"""Programs of every Python that is here, with our native half in them: one file of it serves all versions."""

import json

import pytest

from kit import builds
from kit.interpreters import a_newer_python, cases, interpreters
from kit.marks import line_of
from kit.paths import PROGRAMS

PROGRAM, SOURCE = PROGRAMS / "plain_extension.py", PROGRAMS / "plain_extension.c"


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases())
def test_out_of_native_code_and_on(version, pyharness):
    python = interpreters()[version]
    words = (
        "--python",
        python,
        "--at",
        "native:total",
        "--out",
        "--over",
    )
    environment = {**pyharness.environment, "PYTHONPATH": str(builds.plain_extension(python))}
    result = pyharness("step", *words, "--json", PROGRAM, env=environment)
    assert result.returncode == 0, result.stderr
    stops = json.loads(result.stdout)["stops"]
    assert [(stop["language"], stop["line"]) for stop in stops] == [
        ("native", line_of("total", SOURCE)),
        ("python", line_of("after", PROGRAM)),
        ("python", line_of("try", PROGRAM)),
    ]


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases())
@pytest.mark.parametrize("step", ["--over", "--into"])
def test_the_end_of_a_callback_leads_back_to_native_code(version, step, pyharness):
    python = interpreters()[version]
    words = ("--python", python, "--at", f"native:{SOURCE}:{line_of('calls_back', SOURCE)}", "--into", step, "--out")
    environment = {**pyharness.environment, "PYTHONPATH": str(builds.plain_extension(python))}
    result = pyharness("step", *words, "--json", PROGRAM, env=environment)
    assert result.returncode == 0, result.stderr
    stops = [(stop["language"], stop["function"]) for stop in json.loads(result.stdout)["stops"]]
    assert stops == [("native", "calls"), ("python", "called"), ("native", "calls"), ("python", "work")]


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases())
def test_out_of_native_code_that_a_return_line_has_called(version, pyharness):
    """Neither the line nor the function around it has anything more to do: their caller is where the step ends."""
    python = interpreters()[version]
    words = ("--python", python, "--at", "native:total hits 2", "--out", "--out")
    environment = {**pyharness.environment, "PYTHONPATH": str(builds.plain_extension(python))}
    result = pyharness("step", *words, "--json", PROGRAM, env=environment)
    assert result.returncode == 0, result.stderr
    stops = json.loads(result.stdout)["stops"]
    assert [(stop["function"], stop["line"]) for stop in stops[1:]] == [
        ("passes_on", line_of("passes_on", PROGRAM)),
        ("work", line_of("passed_on", PROGRAM)),
    ]


@a_newer_python("3.12")
def test_syntax_of_a_newer_python(pyharness, tmp_path):
    script = tmp_path / "newer.py"
    script.write_text("type Whole = int\ndef it():\n    return Whole.__name__\nprint(it())\n")
    words = ("step", "--python", interpreters()["3.12"], script, "--at")
    stopped = pyharness(*words, "py:newer.py:3")
    assert (stopped.returncode, "→ 3 │     return Whole" in stopped.stdout) == (0, True), stopped.stderr
    by_name = pyharness(*words, "py:newer.py:it")
    assert (by_name.returncode, "name a line: py:FILE:LINE" in by_name.stderr) == (2, True)
