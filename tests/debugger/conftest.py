"""What the core's tests share: programs ready to be debugged."""

import shutil
import sys

import pytest

from kit import builds
from kit.containers import Container
from kit.debugged_program import Debugged
from kit.paths import PROGRAMS, search_path
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
    monkeypatch.setenv("PYTHONPATH", crossing)
    started = []

    def start(*words, **options):
        started.append(Running(*words, **options))
        return started[-1]

    yield start
    for program in started:
        program.kill()


@pytest.fixture
def contained(tmp_path):
    """Start tests/programs/ledger.py in a container, where its files lie at /app."""
    started = []

    def start(*options, before=(), python=sys.executable):
        room, folder = tmp_path / f"room{len(started)}", tmp_path / f"app{len(started)}"
        shutil.copytree(builds.tally(python, "/app"), folder, ignore=shutil.ignore_patterns("*.lock"))
        for name in ("ledger.py", "tally.c"):
            shutil.copy(PROGRAMS / name, folder)
        started.append(Container(room, folder, "ledger.py", *options, before=before, python=python))
        return started[-1]

    yield start
    for each in started:
        each.kill()
