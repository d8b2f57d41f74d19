"""``pyharness ...``: a process of its own, run to its end or left to the test; or typed in the test's process."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kit.paths import search_path

PYHARNESS = (sys.executable, "-m", "pyharness")
PATIENCE = 120
"""Seconds; a command that ends in tests ends in a few, on a busy machine in many."""


def environment_of(home: Path, *folders: str | Path) -> dict[str, str]:
    """The environment of commands that keep their state in ``home`` and import from ``folders``."""
    return {**os.environ, "PYHARNESS_HOME": str(home), "PYTHONPATH": search_path(*folders)}


def typed(said: pytest.CaptureFixture[str], *words: object) -> subprocess.CompletedProcess[str]:
    """What ``pyharness ...`` does and says in this process, which has torch: a new one takes seconds to import it."""
    import torch  # noqa: F401  (without it, a verb that needs it forks, and the child would go on with the tests)

    from pyharness import cli

    said.readouterr()
    status = cli.execute([str(word) for word in words])
    return subprocess.CompletedProcess(words, status, *said.readouterr())


class Command:
    """Runs and starts ``pyharness ...`` in one folder and environment."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self.environment = environment
        self.folder = folder
        self._started: list[subprocess.Popen[str]] = []

    def __call__(self, *words: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run to the end, with nothing to read; the completed process, with text output."""
        front = options.pop("command", PYHARNESS)
        settings = {"env": self.environment, "cwd": self.folder, "stdin": subprocess.DEVNULL, "timeout": PATIENCE}
        return subprocess.run(
            [*front, *map(str, words)], capture_output=True, text=True, check=False, **{**settings, **options}
        )

    def start(self, *words: object, **options: Any) -> subprocess.Popen[str]:
        """Start and go on, as a session of its own whose streams are pipes."""
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        front = options.pop("command", PYHARNESS)
        settings = {"env": self.environment, "cwd": self.folder, **pipes, **options}
        command = [*front, *map(str, words)]
        self._started.append(subprocess.Popen(command, text=True, start_new_session=True, **settings))
        return self._started[-1]

    def close(self) -> None:
        """End whatever was started and still runs."""
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
