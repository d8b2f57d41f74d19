"""pytest --pyharness in a program of ``pyharness run``: what of ours is in the program goes where the tests run."""

import json

import pytest

pytestmark = pytest.mark.rotated_tests(turns=2)

SUITE = """
import ctypes, os, pathlib, time
from pyharness.host import handles

def test_here():
    assert [(each.name, each.pid) for each in handles.live()] == [("suite", os.getpid())]
def test_crash(): ctypes.string_at(0)
def test_hang(): time.sleep(60)
def test_here_behind_both(): test_here()
"""
OUTCOMES = {"test_here": "passed", "test_crash": "failed", "test_hang": "failed", "test_here_behind_both": "passed"}


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))


def test_a_handle_goes_with_the_tests(suite, tmp_path):
    kept = tmp_path / "kept"
    under = ("-m", "pyharness", "run", "--name", "suite", "--report", str(kept))
    ran = suite(SUITE, "--pyharness-timeout", "1", under=under)
    assert ran.outcomes == OUTCOMES, ran.output
    assert "null pointer" in ran.case("test_crash")[0]
    assert sorted(file.name.partition("-")[0] for file in kept.glob("*.json")) == ["crash", "hang"]
    assert not list((tmp_path / "state" / "run").iterdir())


def test_a_process_that_waits_for_its_tests_hangs_nowhere(suite, tmp_path):
    kept = tmp_path / "kept"
    under = ("-m", "pyharness", "run", "--report", str(kept), "--hang", "1")
    ran = suite(
        "import time, os, pathlib\ndef test_long():\n  time.sleep(2)\n  print(os.getpid())\n", "-s", under=under
    )
    found = [json.loads(file.read_text())["pid"] for file in kept.glob("hang-*.json")]
    assert len(found) == 1, ran.output
    assert str(found[0]) in ran.output.split()


def test_ops_of_tests_are_recorded(suite, tmp_path):
    to = tmp_path / "trace.json"
    ran = suite(
        "import torch\ndef test_ops(): torch.ones(3).tanh()\n", under=("-m", "pyharness", "trace", "-o", str(to))
    )
    assert ran.outcomes == {"test_ops": "passed"}, ran.output
    assert "aten::tanh" in to.read_text(), ran.output


def test_under_a_debugger_the_tests_run_in_the_program(suite):
    ran = suite(
        "import time\ndef test_long(): time.sleep(0.4)\n",
        "--pyharness-timeout", "0.1", "-q",
        under=("-m", "pyharness", "step", "--at", "py:test_theirs.py:2"),
    )  # fmt: skip
    assert ran.outcomes == {"test_long": "passed"}, ran.output
    assert "no test had a limit of time: a debugger is in this process" in ran.output
