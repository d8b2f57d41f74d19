"""Small foreign projects of each kind, and the real command on them."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import pytest
from project_files import FILES, write

from kit import command


@pytest.fixture
def project(tmp_path):
    """``project(KIND)``: a folder with a project of that kind."""
    return lambda kind: write(tmp_path / "shears_project", FILES[kind])


@pytest.fixture
def typed(capsys):
    """``typed(WORD, ...)``: what ``pyharness ...`` does and says, in this process: it only reads and writes."""
    return functools.partial(command.typed, capsys)


@pytest.fixture
def environment(tmp_path):
    """As in a shell where the virtual environment is active."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**command.environment_of(tmp_path / "state"), "PATH": path}
