"""What the core's tests share: programs ready to be debugged."""

import pytest

from kit.debugged_program import Debugged
from kit.paths import before_others, search_path
from kit.running_program import Running


@pytest.fixture
def debugged(tmp_path, crossing, monkeypatch):
    """Make a program of ``tests/programs`` ready to be debugged; its input has ended."""
    monkeypatch.setenv("PYTHONPATH", search_path(crossing))
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
    monkeypatch.setenv("PYTHONPATH", before_others(crossing))
    started = []

    def start(*words, **options):
        started.append(Running(*words, **options))
        return started[-1]

    yield start
    for program in started:
        program.kill()
