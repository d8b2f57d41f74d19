"""What the command line's tests share: the real command in a process of its own."""

import os
import subprocess
import sys

import pytest

from kit import command
from kit.paths import ROOT


@pytest.fixture
def started(pyharness):
    """Start ``pyharness ...`` and go on; ended with the test at the latest."""
    return pyharness.start


@pytest.fixture
def typed(capsys, tmp_path, monkeypatch):
    """``typed(WORD, ...)``: what ``pyharness ...`` does and says in this process and folder; its modules go with it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))

    def forget():
        for path in tmp_path.glob("*.py"):
            sys.modules.pop(path.stem, None)

    def run(*words):
        forget()
        return command.typed(capsys, *words)

    yield run
    forget()


@pytest.fixture(scope="session")
def graphs_of_program(tmp_path_factory):
    """What ``fx_graphs.py`` makes, from one run of it."""
    folder = tmp_path_factory.mktemp("graphs")
    start = ROOT / "pyharness" / "debuggee" / "start.py"
    command = [sys.executable, start, "graphs", folder, "{}", ROOT / "tests" / "programs" / "fx_graphs.py"]
    environment = {**os.environ, "PYHARNESS_HOME": str(folder / "state")}
    subprocess.run(list(map(str, command)), env=environment, capture_output=True, timeout=90, check=True)
    return folder / "graphs.json"


@pytest.fixture
def kept(graphs_of_program, monkeypatch, tmp_path):
    """The verbs on graphs find that program's, without running it again."""
    from pyharness.cli.fx import program

    def run_entry(_entry, _command, folder, _request, **_options):
        (folder / "graphs.json").write_bytes(graphs_of_program.read_bytes())
        return 0

    monkeypatch.setattr(program, "run_entry", run_entry)
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))
