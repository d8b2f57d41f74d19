"""Tests that break what the plugin works with: its descriptors, its functions, its clock, its names, its streams."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.rotated_tests(turns=5)


HOSTILE = """
import ctypes, io, json, os, resource, time
from unittest import mock
import pytest

def crash():
    ctypes.string_at(0)

@getattr(pytest.mark, "skip")(reason="why not")
def test_skipped(): pass

def test_closes(tmp_path):
    os.closerange(3, 60)
    with open("theirs.txt", "w") as file:
        file.write("theirs")

def test_mocks(monkeypatch):
    for name in ("write", "open", "pwrite", "getpid", "fstat"):
        monkeypatch.setattr(os, name, lambda *_: 1 / 0)
    monkeypatch.setattr(json, "dumps", lambda *_: 1 / 0)

def test_frozen(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 1e9)

def test_odd_property(record_property):
    record_property("odd", {(1, 2): mock.Mock()})

def test_subtests(subtests):
    for number in range(3):
        with subtests.test(number=number):
            assert number != 1

def test_crashes(): crash()

@pytest.mark.pyharness(timeout="abc")
def test_wrong_marker(): pass

@pytest.fixture(scope="module")
def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

def test_limits_files(small_files): pass

def test_last(small_files): pass
"""


def test_what_tests_do_to_their_process_costs_no_result(suite, tmp_path):
    ran = suite(HOSTILE, "-s", "-rA", plugin=("--pyharness", "--pyharness-timeout", "30"))
    assert "INTERNALERROR" not in ran.output, ran.output
    outcomes = ran.outcomes
    assert outcomes.pop("test_skipped") == "skipped"
    assert (outcomes.pop("test_crashes"), outcomes.pop("test_wrong_marker")) == ("failed", "error")
    assert outcomes.pop("test_subtests") == "failed"
    assert set(outcomes.values()) == {"passed"}, ran.output
    assert len(outcomes) >= 6
    assert (tmp_path / "theirs.txt").read_text() == "theirs"
    assert "timeout='abc'" in ran.output


NAMES = """
import ctypes, os, pytest
@pytest.mark.parametrize("other", [os.getpid()])
def test_named(other): ctypes.string_at(0)
def test_other(): pass
"""


def test_a_crash_whose_name_changes_is_not_run_for_ever(suite):
    ran = suite(NAMES)
    assert ran.code != 0
    assert "no more tests are run: 3 of them have ended a process" in ran.output


def test_a_group_of_tests_goes_on_behind_the_one_that_ends_its_worker(suite):
    source = "import ctypes\ndef test_a(): pass\ndef test_b(): ctypes.string_at(0)\ndef test_c(): pass\n"
    ran = suite(source, "-n", "1", "--dist", "loadfile")
    assert ran.outcomes["test_c"] == "passed", ran.output
    assert ran.outcomes["test_b"] == "failed"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_pytest_alone_ends_its_tests(tmp_path, number):
    (tmp_path / "test_long.py").write_text(
        "import pathlib, time\ndef test_long():\n    pathlib.Path('begun').touch()\n    time.sleep(60)\n"
    )
    words = [sys.executable, "-m", "pytest", "-q", "--pyharness", "test_long.py"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    until = time.monotonic() + 30
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(process.pid, number)
    output, _ = process.communicate(timeout=30)
    assert process.returncode != 0
    if number == signal.SIGINT:
        assert "KeyboardInterrupt" in output
        assert process.returncode == 2


def test_without_standard_input(tmp_path):
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    command = f"exec {sys.executable} -m pytest -q --pyharness --pdb test_it.py <&-"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


FIRST = """
import ctypes, os
def test_first(monkeypatch):
    for name in ("open", "posix_fallocate"):
        monkeypatch.setattr(os, name, lambda *_: 1 / 0)
    assert 0, "the first"
def test_crash(): ctypes.string_at(0)
"""


def test_what_the_first_test_takes_away_costs_no_result(suite):
    """A fake file system is there from a test's fixtures on to its teardown: reports have their file before."""
    ran = suite(FIRST)
    assert ran.outcomes == {"test_first": "failed", "test_crash": "failed"}, ran.output
    assert "the first" in ran.case("test_first")[0]
