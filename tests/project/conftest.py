"""Small foreign projects of each kind, and the real command on them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from project_files import FILES, write

from kit.command import environment_of
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
def environment(tmp_path):
    """As in a shell where the virtual environment is active."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**environment_of(tmp_path / "state"), "PATH": path}
