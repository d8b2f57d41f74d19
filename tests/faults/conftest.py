"""What the fault tests share: the harness as a process of its own, and a look at everything that it started."""

import os

import pytest
from harness_process import HarnessProcess
from processes import PATIENCE, marked_with

from kit.paths import TESTS, search_path
from kit.processes import ends_within


@pytest.fixture
def environment(tmp_path, crossing, monkeypatch):
    """The environment of everything that a test starts; its state folder marks these processes."""
    path = search_path(crossing, TESTS)  # the scripts beside these tests import `kit`
    marks = {"PYHARNESS_HOME": str(tmp_path / "state"), "PYTHONPATH": path, "PAUSES": str(tmp_path / "pauses")}
    os.mkfifo(marks["PAUSES"])
    for name, value in marks.items():
        monkeypatch.setenv(name, value)
    yield {**os.environ, **marks}
    # A gdb whose debugger died as it began ends when it comes to read what it was to do.
    left = [process for process in marked_with(marks["PYHARNESS_HOME"]) if not ends_within(process.pid, PATIENCE)]
    for process in left:
        process.kill()
    assert not left


@pytest.fixture
def pyharness(environment):
    """Start ``pyharness ...``, which pauses at each stop if so asked; ended with the test at the latest."""
    started = []

    def start(*words, paused=False, before=(), **extra):
        started.append(HarnessProcess(words, {**environment, **extra}, paused=paused, before=before))
        return started[-1]

    start.environment = environment
    yield start
    for process in started:
        process.abandon()
