"""What the command line's tests share: the real command in a process of its own."""

import os
import signal
import subprocess
import sys

import pytest
from words_program import ROOT


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
