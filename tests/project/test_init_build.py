"""The debug build that ``pyharness init`` writes: made for real, debuggable whatever flags the project asks for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from project_files import OP

from kit.paths import ROOT
from pyharness.doctor.binaries.library import library
from pyharness.doctor.registry import Area
from pyharness.reading.binaries.elf import open_elf

FIRST = next(number for number, line in enumerate(OP.splitlines(), 1) if "@first" in line)
BEGINS = {FIRST - 1, FIRST}
"""Where gdb has a function begin: with a stack protector, which Debian's Python asks for, at the line that names it."""
CALLS = """
import pathlib, shears, torch

(library,) = pathlib.Path(shears.__file__).parent.glob("_C*.so")
torch.ops.load_library(library)
assert "libasan" in pathlib.Path("/proc/self/maps").read_text()
print(list(torch.ops.shears.shear(torch.rand(2, 3), 0.5).shape))
"""
LIBRARIES = {"setuptools": "lib/shears/_C*.so", "jit": "torch_extensions/*/*.so"}


@pytest.fixture
def build(tmp_path):
    """Make the debug build of a project; its library."""

    def make(root, kind, sanitizer=None):
        environment = {**os.environ, "PYHARNESS_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
        for name in ("TORCH_EXTENSIONS_DIR", "CFLAGS", "CXXFLAGS", "CXX", "CC"):
            environment.pop(name, None)
        command = ["sh", root / "debugging/build.sh", *filter(None, [sanitizer])]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        (made,) = (root / f"build/pyharness-{sanitizer or 'debug'}").glob(LIBRARIES[kind])
        return made

    return make


@pytest.mark.rotated_tests(turns=5, number=1)
@pytest.mark.rotated
@pytest.mark.parametrize("kind", LIBRARIES)
def test_the_debug_build_stops_in_their_kernel(project, pyharness, build, kind):
    root = project(kind)
    release = root / "build/lib/shears/_C.so"
    release.parent.mkdir(parents=True)
    release.write_bytes(b"the release build")
    assert pyharness("init", root).returncode == 0
    made = build(root, kind)
    assert release.read_bytes() == b"the release build"
    found = {one.check: one.state for one in library(Area("extension"), open_elf(str(made)))}
    assert {found[name] for name in ("debug-info", "symbols", "optimized", "asserts", "sources")} == {"ok"}, found
    assert not list(root.glob("*.egg-info"))
    if kind == "setuptools":
        assert (made.parent / "__init__.py").resolve() == root / "shears/__init__.py", "a breakpoint in theirs holds"
        assert_a_session_stops(root, pyharness)
    else:
        assert_plain_gdb_stops(root)


@pytest.mark.rotated_tests(turns=12, number=5)
def test_a_build_for_a_sanitizer(project, pyharness, build, tmp_path):
    root = project("setuptools")
    assert pyharness("init", root).returncode == 0
    made = build(root, "setuptools", "asan")
    (tmp_path / "calls.py").write_text(CALLS)
    search = os.pathsep.join([str(made.parents[1]), str(ROOT)])
    environment = {**pyharness.environment, "PYTHONPATH": search}
    done = pyharness("run", "--asan", tmp_path / "calls.py", env=environment)
    assert (done.returncode, done.stdout) == (0, "[2, 3]\n"), done.stdout + done.stderr


def assert_a_session_stops(root, pyharness):
    played = pyharness("session", "run", root / "debugging/shear.toml", "--json")
    assert played.returncode == 0, played.stdout + played.stderr
    (stop,) = json.loads(played.stdout)["stops"]
    assert (stop["language"], stop["function"].rpartition("::")[2]) == ("native", "shear_cpu")
    assert stop["line"] in BEGINS
    assert stop["printed"]["by"] == "0.5"
    assert any(frame["file"] == str(root / "debugging/call_shear.py") for frame in stop["stack"])


def assert_plain_gdb_stops(root):
    environment = {**os.environ, "PYHARNESS_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    environment["PATH"] = (
        f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"  # torch looks for ninja there
    )
    command = ["gdb", "-nx", "-batch", "-x", "debugging/shear.gdb"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert "shears::shear_cpu" in done.stdout, done.stdout + done.stderr
    assert any(f"shear.cpp:{line}" in done.stdout for line in BEGINS), done.stdout + done.stderr
    assert "call_shear.py" in done.stdout


def test_an_interpreter_without_torch_is_named(project, pyharness, tmp_path):
    root = project("cmake")
    assert pyharness("init", root).returncode == 0
    lonely = tmp_path / "python3"
    lonely.write_text("#!/bin/sh\nexit 1\n")
    lonely.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", root / "debugging/build.sh"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (
        1,
        f"{lonely} cannot import torch: activate your environment, or set PYHARNESS_PYTHON.\n",
    )
    assert not (root / "build").exists()
    environment["PYHARNESS_PYTHON"] = "no-such-python"
    done = subprocess.run(
        ["sh", root / "debugging/build.sh"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "There is no no-such-python: set PYHARNESS_PYTHON.\n")


def test_a_path_that_setuptools_splits_is_said_by_init_and_by_the_script(project, pyharness, tmp_path):
    root = project("setuptools").rename(tmp_path / "sp ace")
    said = f"setuptools cannot build in {root}: it splits names of compilers at spaces and quotes."
    assert said in " ".join(pyharness("init", root).stdout.split())
    command = ["sh", root / "debugging/build.sh"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(said)
    assert not (root / "build").exists()
