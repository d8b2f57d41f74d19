"""What the core's tests share: programs ready to be debugged."""

import os

import crossing_build
import pytest
from debugged_program import ROOT, Debugged
from running_program import Running


@pytest.fixture(scope="session")
def crossing():
    """The folder of the test extension."""
    return str(crossing_build.folder())


@pytest.fixture
def debugged(tmp_path, crossing, monkeypatch):
    """Make a program of ``tests/programs`` ready to be debugged; its input has ended."""
    path = os.pathsep.join(filter(None, [str(ROOT), crossing, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYTHONPATH", path)
    made = []

    def make(name):
        made.append(Debugged(name, tmp_path))
        return made[-1]

    yield make
    for each in made:
        if each.program is not None and hasattr(each.program, "_shell"):
            each.program.kill()


@pytest.fixture
def running(tmp_path, crossing, monkeypatch):
    """Start a program of ``tests/programs`` that runs by itself; handles are this test's own."""
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", crossing)
    started = []

    def start(*words, **options):
        started.append(Running(*words, **options))
        return started[-1]

    yield start
    for program in started:
        program.kill()
