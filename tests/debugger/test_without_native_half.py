"""Programs whose Python has no native half of ours: a source tree without any build, and Pythons of other versions."""

import json
import shutil
import sys

import pytest

from kit import builds, needs
from kit.interpreters import cases, interpreters
from kit.marks import line_of, place
from kit.paths import PROGRAMS, ROOT

PROGRAM, SOURCE = PROGRAMS / "plain_extension.py", PROGRAMS / "plain_extension.c"
WITHOUT_EXECUTABLE_MEMORY = """#!{python}
import ctypes, os, sys
assert ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) == 0  # PR_SET_MDWE: nothing writable becomes executable
os.execv({python!r}, sys.argv)
"""


def _programs_half(_folder, names):
    """What is not copied; ``_xstate`` is gdb's."""
    return [name for name in names if name == "__pycache__" or (name.endswith(".so") and "_xstate" not in name)]


@pytest.fixture
def unbuilt(tmp_path, pyharness):
    """The command as a source tree without any build has it; ``unbuilt(interpreter, steps)`` runs the program."""
    shutil.copytree(ROOT / "pyharness", tmp_path / "tree/pyharness", ignore=_programs_half)

    def step(python, *words, module_of=None):
        path = f"{tmp_path / 'tree'}:{builds.plain_extension(module_of or python)}"
        environment = {**pyharness.environment, "PYTHONPATH": path}
        return pyharness("step", "--python", python, *words, "--json", PROGRAM, env=environment)

    return step


def places(result):
    return [(stop["language"], stop["function"], stop["line"]) for stop in json.loads(result.stdout)["stops"]]


def python(mark, function="work"):
    return "python", function, line_of(mark, PROGRAM)


def native(mark, function):
    return "native", function, line_of(mark, SOURCE)


OWN = "{}.{}".format(*sys.version_info)
BARE = sys._base_executable  # type: ignore[attr-defined]  # a venv has the interpreter that it was made from
"""Our own interpreter without its environment, in which an editable install would find the modules of this clone."""
OTHERS = [version for version in interpreters() if not version.startswith(OWN)]
pytestmark = [pytest.mark.rotated, pytest.mark.rotated_tests(turns=8)]


@pytest.fixture(params=cases([OWN, *OTHERS]))
def interpreter(request):
    """Our own, which has a native half elsewhere, and every other version that is here."""
    return BARE if request.param == OWN else interpreters()[request.param]


def test_a_native_stop_is_left_towards_python(unbuilt, interpreter):
    words = ("--at", "native:total", "--out", "--over", "--at", "native:sum_below", "--out", "--out")
    result = unbuilt(interpreter, *words)
    assert result.returncode == 0, result.stderr
    assert places(result) == [
        native("total", "total"),
        python("after"),
        python("try"),
        native("sum", "sum_below"),
        native("on_its_way", "fails"),
        python("caught"),
    ]


def test_over_walks_off_the_end_of_native_code(unbuilt, interpreter):
    result = unbuilt(interpreter, "--at", place("calls", PROGRAM), "--into-native", *("--over",) * 5)
    assert result.returncode == 0, result.stderr
    assert places(result)[-1] == python("after")


def test_out_without_the_gil(unbuilt, interpreter):
    result = unbuilt(interpreter, "--at", f"native:{SOURCE}:{line_of('without_gil', SOURCE)}", "--out", "--over")
    assert result.returncode == 0, result.stderr
    assert places(result)[1:] == [python("try"), python("fails")]


def test_python_is_evaluated_at_a_native_stop(unbuilt, interpreter):
    at = f"native:{SOURCE}:{line_of('on_its_way', SOURCE)}"
    result = unbuilt(interpreter, "--at", at, "--print", "py:first * 2", "--print", "py:missing", "--continue")
    assert result.returncode == 0, result.stderr
    printed = json.loads(result.stdout)["stops"][0]["printed"]
    assert printed["py:first * 2"] == "20"
    assert "NameError" in printed["py:missing"]
    assert result.stderr.splitlines()[-1] == "result 27"  # the exception on its way, and errno, came through


@pytest.mark.parametrize("step", ["--out", "--over", "--into"])
def test_a_program_that_may_not_have_it_says_so(unbuilt, tmp_path, step):
    wrapped = tmp_path / "python"
    wrapped.write_text(WITHOUT_EXECUTABLE_MEMORY.format(python=BARE))
    wrapped.chmod(0o755)
    needs.surroundings([str(wrapped), "-c", "import os; os.execvp('true', ['true'])"], "Linux 6.3 has PR_SET_MDWE")
    result = unbuilt(wrapped, "--at", "native:total", step, "--over", module_of=BARE)
    assert result.returncode == 1
    assert places(result) == [native("total", "total")]
    error = json.loads(result.stdout)["error"]
    assert "No step can end in Python from here" in error["message"]
    assert "mprotect is refused" in error["message"]
    assert "Traceback" not in result.stderr
