"""``ph_step``: a stop of the test's own process, which a debugger beside it has seen."""

import re
import subprocess
import sys
import time

import pytest

from kit.builds import library
from kit.command import environment_of
from kit.paths import PROGRAMS
from kit.processes import carrying

SUITE = PROGRAMS / "suite_of_stops.py"


def test_a_test_looks_at_its_own_kernel(tmp_path):
    (tmp_path / "test_stops.py").write_text(SUITE.read_text())
    (tmp_path / "pytest.ini").touch()  # no configuration of a folder above
    (tmp_path / "native.so").write_bytes(library(PROGRAMS / "scaled.cpp", "-O0").read_bytes())
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--pyharness", "test_stops.py"]
    environment = {**environment_of(tmp_path / "state"), "COLUMNS": "200"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    failed = dict(re.findall(r"FAILED test_stops.py::(\w+) - (?:Failed: )?(.*)", done.stdout))
    assert failed == {
        "test_an_unknown_place": "No loaded native code has native:scalde.",
        "test_a_place_that_is_not_reached": "What was run has returned, and did not come to native:scaled.",
        "test_an_unknown_step": "There is no step 'ovr'.",
        "test_no_list_of_steps": failed.get("test_no_list_of_steps"),
        "test_more_steps_than_there_are": failed.get("test_more_steps_than_there_are"),
    }, done.stdout
    assert failed["test_no_list_of_steps"].startswith("ph_step takes a place, a function and a list of steps, not ")
    assert "Did you mean scaled?" in done.stdout
    assert re.fullmatch(r"What was run had returned by step \d of 9, out\.", failed["test_more_steps_than_there_are"])
    assert "7 passed" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    end = time.monotonic() + 5
    home = f"PYHARNESS_HOME={environment['PYHARNESS_HOME']}"
    while left := list(carrying(home)):
        assert time.monotonic() < end, left


def test_a_crash_where_one_steps_has_its_stacks(suite):
    text = "import ctypes, os\nfaults = ctypes.CDLL(os.environ['FAULTS'])\n\ndef test_steps(ph_step):\n"
    ran = suite(text + "    ph_step('native:null_pointer', lambda: faults.null_pointer(None, 3), ['over'] * 3)\n")
    message, text = ran.case("test_steps")
    assert "a null pointer and 24 bytes" in message
    assert "faults.cpp:" in text
    assert "values = 0x0" in text
    assert "without stacks" not in message


@pytest.mark.rotated_tests(turns=8, number=1)
def test_a_hang_that_a_debugger_looks_at_has_its_stacks(suite):
    text = "import ctypes, os\nfaults = ctypes.CDLL(os.environ['FAULTS'])\n\ndef test_spins(ph_step):\n"
    ran = suite(text + "    ph_step('native:null_pointer', faults.spins)\n", "--pyharness-timeout", "6")
    assert ran.outcomes == {"test_spins": "failed"}
    assert "it has taken too long" in ran.case("test_spins")[0]
    assert "spins" in ran.case("test_spins")[1]
