"""What these tests share: the real command on an eager program with an extension."""

import os
import subprocess
import sys

import breakpoint_build
import pytest


@pytest.fixture(scope="session")
def extension():
    """Path of the extension with the op ``walk::weighted``."""
    return str(breakpoint_build.op_kernel())


@pytest.fixture(scope="session")
def survey():
    """Path of an extension whose authors never heard of us."""
    return str(breakpoint_build.survey())


@pytest.fixture
def environment(tmp_path):
    path = os.pathsep.join(filter(None, [str(breakpoint_build.ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYHARNESS_HOME": str(tmp_path / "state"), "PYTHONPATH": path}


@pytest.fixture
def pyharness(environment, tmp_path):
    """Run ``pyharness ...``; the completed process, with text output."""

    def run(*words):
        command = [sys.executable, "-m", "pyharness", *map(str, words)]
        options = {"env": environment, "cwd": tmp_path, "stdin": subprocess.DEVNULL, "timeout": 120}
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    return run
