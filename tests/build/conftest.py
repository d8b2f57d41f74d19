"""Builds that the tests look at, made at most once and not made active."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kit.paths import ROOT


def run(*command: str | Path, **options: object) -> str:
    """Standard output of a command that must succeed; its whole output is the failure."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def debug_build() -> Path:
    """Folder of the debug build, up to date."""
    run(sys.executable, ROOT / "cmake" / "build.py", "debug", "--inactive")
    return ROOT / "build" / "debug"


@pytest.fixture(scope="session")
def debug_module(debug_build: Path) -> Path:
    (module,) = debug_build.glob("_C.*.so")
    return module
