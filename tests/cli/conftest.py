"""What the command line's tests share: the real command in a process of its own."""

import os
import signal
import subprocess
import sys

import pytest
from words_program import ROOT

sys.path.insert(0, str(ROOT / "tests" / "debugger"))

import crossing_build


@pytest.fixture(scope="session")
def crossing():
    """The folder of the test extension."""
    return str(crossing_build.folder())


@pytest.fixture
def environment(tmp_path):
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYHARNESS_HOME": str(tmp_path / "state"), "PYTHONPATH": path}


@pytest.fixture
def pyharness(environment, tmp_path):
    """Run ``pyharness ...``; the completed process, with text output."""

    def run(*words, **options):
        command = [sys.executable, "-m", "pyharness", *map(str, words)]
        options = {"env": environment, "cwd": tmp_path, "stdin": subprocess.DEVNULL, "timeout": 90, **options}
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    return run


@pytest.fixture
def started(environment, tmp_path):
    """Start ``pyharness ...`` and go on; ended with the test at the latest."""
    processes = []

    def start(*words, **options):
        command = [sys.executable, "-m", "pyharness", *map(str, words)]
        options = {
            "cwd": tmp_path,
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            **options,
        }
        process = subprocess.Popen(command, env=environment, text=True, start_new_session=True, **options)
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


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
