"""Small foreign projects of each kind, and the real command on them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from project_files import FILES, ROOT, write

from pyharness import cli


@pytest.fixture
def project(tmp_path):
    """``project(KIND)``: a folder with a project of that kind."""
    return lambda kind: write(tmp_path / "shears_project", FILES[kind])


@pytest.fixture
def typed(capsys):
    """``typed(WORD, ...)``: what ``pyharness ...`` does and says, in this process: it only reads and writes."""

    def run(*words):
        capsys.readouterr()
        status = cli.execute([str(word) for word in words])
        said = capsys.readouterr()
        return subprocess.CompletedProcess(words, status, said.out, said.err)

    return run


@pytest.fixture
def pyharness(tmp_path):
    """Run ``pyharness ...``; the completed process, with text output."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYHARNESS_HOME": str(tmp_path / "state")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"

    def run(*words, command=(sys.executable, "-m", "pyharness"), **options):
        options = {"env": environment, "cwd": tmp_path, "stdin": subprocess.DEVNULL, "timeout": 150, **options}
        return subprocess.run([*command, *map(str, words)], capture_output=True, text=True, check=False, **options)

    return run
