"""Without ``_C``, the example ops, everything works on an extension that is not ours: record, find_nan, run, step."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

from kit import builds, needs
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=5)


PROGRAM = PROGRAMS / "op_eager.py"
LINE = next(number for number, line in enumerate(PROGRAM.read_text("utf-8").splitlines(), 1) if "# @weighted" in line)
WATCH = """
import sys
import torch
import pyharness
torch.ops.load_library(sys.argv[1])
x = torch.ones(4, requires_grad=True)
with pyharness.record() as recording:
    (torch.ops.walk.weighted(x.detach(), 3.0) * x).sum().backward()
print([op.name for op in recording.trace.ops if op.name.startswith("walk")])
print([node.name for node in recording.trace.nodes if "Mul" in node.name])
with pyharness.find_nan(action=lambda finding: None) as search:
    torch.ops.walk.weighted(torch.tensor([1.0, float("inf")]), 0.0)
print(search.finding.name)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A copy of the package as a wheel installs it, with an engine beside it: links to builds become files."""
    import pyharness

    folder = tmp_path_factory.mktemp("without_ops")
    shutil.copytree(
        Path(pyharness.__file__).parent, folder / "pyharness", ignore=shutil.ignore_patterns("_C.*", "__pycache__")
    )
    return folder


@pytest.fixture
def python(installed):
    """Run the interpreter with that package and no other: -S leaves out the finder of an editable install."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), *site.getsitepackages()])}
    environment.pop("PYHARNESS_BUILD", None)

    def run(*words, succeeds=True):
        command = [sys.executable, "-S", *map(str, words)]
        done = subprocess.run(
            command,
            cwd=installed,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode == 0) == succeeds, f"{command}\n{done.stdout}\n{done.stderr}"
        return done

    return run


def test_the_engine_is_watched(python):
    done = python("-c", WATCH, builds.op_kernel())
    assert done.stdout.splitlines() == ["['walk::weighted']", "['MulBackward0']", "walk::weighted"]


@needs.a_plain_build
def test_a_line_is_stepped_into_the_extension(python):
    words = (
        "step",
        PROGRAM,
        "--at",
        f"{PROGRAM}:{LINE}",
        "--into-native",
        "--json",
        "--",
        builds.op_kernel(),
    )
    line, kernel = json.loads(python("-m", "pyharness", *words).stdout)["stops"]
    assert (line["language"], line["line"]) == ("python", LINE)
    assert (kernel["language"], kernel["function"]) == ("native", "walk::weighted")


def test_the_build_is_described(python):
    said = python("-c", "from pyharness.native.build import described; print(described())").stdout
    assert said.startswith("without example ops, torch ")
    assert "_engine." in python("-m", "pyharness", "--version").stdout


def test_the_ops_name_their_remedy(python):
    done = python("-c", "import pyharness.ops", succeeds=False)
    last = done.stderr.strip()
    assert "installed without its example ops" in last
    assert "make debug-build" in last
