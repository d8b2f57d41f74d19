"""No gdb: one clear error where it is needed, and Python sessions that never notice."""

import json
import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest
from harness_process import STANDS, at

from kit.paths import PROGRAMS, ROOT

pytestmark = pytest.mark.rotated_tests(turns=2)

LINES = PROGRAMS / "plain_lines.py"


def without_gdb(tmp_path):
    """A PATH that has every program of the usual one but gdb."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for entry in Path(place).glob("*"):
            if entry.name != "gdb" and not (folder / entry.name).is_symlink():
                (folder / entry.name).symlink_to(entry)
    return {"PATH": str(folder), "PYHARNESS_GDB": ""}


MISSING = pytest.mark.parametrize(
    ("missing", "named"),
    [(without_gdb, "'gdb'"), (lambda _: {"PYHARNESS_GDB": "/nowhere/gdb"}, "'/nowhere/gdb'")],
    ids=["not on PATH", "misnamed"],
)


@MISSING
def test_a_native_place_says_what_to_do(pyharness, tmp_path, missing, named):
    harness = pyharness("step", STANDS, "--at", "native:held", **missing(tmp_path))
    status, errors = harness.end()
    assert status == 1
    assert f"pyharness: gdb was not found ({named}" in errors
    assert "apt-get install gdb" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(("named", "said"), [("/bin/cat", "it said"), ("/bin/false", "it ended without a word")])
def test_a_program_that_is_no_gdb_is_said_to_be_none(pyharness, named, said):
    status, errors = pyharness("step", STANDS, "--at", "native:held", PYHARNESS_GDB=named).end()
    assert status == 1
    assert f"pyharness: {named} does not run as gdb: {said}" in errors
    assert "apt-get install gdb" in errors
    assert "Traceback" not in errors


def test_the_gdb_of_our_own_environment_is_found_where_path_has_none(tmp_path):
    venv.create(tmp_path / "env", symlinks=True, with_pip=False)
    own = tmp_path / "env/bin/gdb"
    own.symlink_to(shutil.which("gdb"))
    asks = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from pyharness.gdbmi.client import find_gdb; print(find_gdb())"
    )

    def found(**more):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
        command = [tmp_path / "env/bin/python", "-c", asks]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout.strip()

    assert found(**without_gdb(tmp_path)) == str(own)
    assert found(PYHARNESS_GDB="") == shutil.which("gdb")
    assert not found(PYHARNESS_GDB="/nowhere/gdb")


def test_a_step_into_says_what_to_do(pyharness):
    harness = pyharness("step", STANDS, "--at", at("native"), "--into", PYHARNESS_GDB="/nowhere/gdb")
    status, errors = harness.end()
    assert (status, errors.splitlines()[0][:30]) == (1, "pyharness: gdb was not found (")


@MISSING
def test_python_alone_needs_none(pyharness, tmp_path, missing, named):
    words = ("step", LINES, "--json", "--at", at("inner", LINES), "--over", "--out", "--print", "x")
    harness = pyharness(*words, **missing(tmp_path))
    status, errors = harness.end()
    data = json.loads(harness.said)
    assert [stop["function"] for stop in data["stops"]] == ["inner", "inner", "outer"]
    assert (status, data["exit_code"]) == (3, 3)
    assert named not in errors


def test_a_step_into_python_needs_none(pyharness):
    """The program has no native code of the user's: nothing for gdb to do."""
    harness = pyharness("step", LINES, "--json", "--at", at("loop", LINES), "--into", PYHARNESS_GDB="/nowhere/gdb")
    status, _ = harness.end()
    assert [stop["function"] for stop in json.loads(harness.said)["stops"]] == ["main", "outer"]
    assert status == 3
