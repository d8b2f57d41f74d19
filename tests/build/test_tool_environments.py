"""pyharness as a tool of uv's or pipx's, without a compiler: it debugs the project's environment, of another Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kit import builds, needs
from kit import wheel as wheels
from kit.interpreters import interpreters
from kit.marks import line_of
from kit.paths import PROGRAMS

pytestmark = pytest.mark.timeout(1200)  # they fetch what the package needs

PROGRAM = PROGRAMS / "plain_extension.py"
INSTALLS = {
    "uv": ("tool", "install", "--no-config", "--python", sys.executable),
    "pipx": ("install", "--python", sys.executable),
}
FOLDERS = {"uv": ("UV_TOOL_DIR", "UV_TOOL_BIN_DIR"), "pipx": ("PIPX_HOME", "PIPX_BIN_DIR")}
"""The variables that say where a tool's environments lie, and its commands."""


@pytest.fixture(scope="module", params=INSTALLS)
def installed(request, tmp_path_factory):
    """The command that one of both has made of the wheel, and an environment to run it in."""
    name, folder = request.param, tmp_path_factory.mktemp(request.param)
    program = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if program is None:
        needs.skip(f"there is no {name}: pip install {name}")
    environment = wheels.without_compiler(folder / "bin")
    environment.pop("VIRTUAL_ENV", None)
    kept = dict(zip(FOLDERS[name], (str(folder / "environments"), str(folder / "commands")), strict=True))
    words = [program, *INSTALLS[name], str(wheels.wheel())]
    done = subprocess.run(words, env=environment | kept, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    return folder / "commands" / "pyharness", environment | {"PYHARNESS_HOME": str(folder / "home")}


@pytest.fixture(params=interpreters().values(), ids=interpreters())
def project(request, tmp_path):
    """A folder with a program, an environment of another Python, and an extension for that."""
    subprocess.run([request.param, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    shutil.copy(PROGRAM, tmp_path)
    for module in builds.plain_extension(request.param).glob("plain.*.so"):
        shutil.copy(module, tmp_path)
    return tmp_path


def test_the_projects_python_is_stepped_into_its_extension_and_out(installed, project):
    command, environment = installed
    there = sorted(project.rglob("*"))
    words = [command, "step", PROGRAM.name, "--at", "native:total", "--out", "--json"]
    done = subprocess.run(words, env=environment, cwd=project, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    inside, outside = json.loads(done.stdout)["stops"]
    assert (inside["language"], inside["function"]) == ("native", "total")
    assert (outside["language"], outside["line"]) == ("python", line_of("after", PROGRAM))
    assert f"{project}/.venv/bin/python" in done.stderr
    assert sorted(project.rglob("*")) == there, "nothing is left behind"
