"""``pyharness fx verify MODEL --backend inductor``: as text, as JSON, as exit status; and what it cannot compare."""

import json
import re
import shlex
from pathlib import Path

import pytest

from kit import inductor
from kit.command import Command, environment_of
from kit.paths import TESTS

pytestmark = pytest.mark.rotated_tests(turns=11)

MODEL = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(21, 21)

    def forward(self, x):
        return (self.linear(x).sin().exp() * 2).cos()  # @exp

class Plain(torch.nn.Module):
    def forward(self, x):
        return x @ x.t()

class Uncompiled(torch.nn.Module):
    @torch.compiler.disable
    def forward(self, x):
        return x + 1

def inputs():
    return torch.linspace(-1, 1, 105).reshape(5, 21)
"""
PLANTED = f"""
import sys
sys.path.append({str(TESTS / "fx")!r})
import planted_kernels, pytest
from script import Model, inputs

planted_kernels.dropped(pytest.MonkeyPatch(), "forward")
"""
FAILING = """#!/bin/sh
case "$*" in *.main.cpp*) echo "kernel.cpp:7:9: error: 'tmp0' was not declared" >&2; exit 1;; esac
exec g++ "$@"
"""
NO_PRECOMPILED = {"TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0"}
"""For a compiler of a test's own: torch keeps what it precompiles for each path of one, 150 MB in /tmp."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("verify")
    (path / "script.py").write_text(MODEL)
    (path / "planted.py").write_text(PLANTED)
    (path / "cxx").write_text(FAILING)
    (path / "cxx").chmod(0o755)
    return path


@pytest.fixture(scope="module")
def command(folder):
    """``pyharness`` in the folder, with environment variables by name."""

    def command(*words, torch="torch", **environment):
        cache = {"TORCHINDUCTOR_CACHE_DIR": inductor.cache(folder / torch)}
        settings = {**environment_of(folder / "home"), **cache, **environment}
        return Command(settings, folder)(*words)

    return command


@pytest.fixture(scope="module")
def run(command):
    return lambda model, *words, **named: command("fx", "verify", model, "--backend", "inductor", *words, **named)


@pytest.fixture(scope="module")
def wrong(run):
    """The verdict on wrong code, as data."""
    result = run("planted.py:Model", "--json", "-o", "wrong")
    assert result.returncode == 1, result.stderr
    return json.loads(result.stdout)


def line_of_model():
    return MODEL.split("\n").index("        return (self.linear(x).sin().exp() * 2).cos()  # @exp") + 1


@pytest.mark.rotated_tests(turns=3, number=0)
def test_the_json_names_kernel_node_line_and_element(wrong, folder):
    first = wrong["first"]
    assert (first["node"], first["graph"], first["module"]) == ("exp", "forward", "")
    assert (first["origin_file"], first["origin_line"]) == (str(folder / "script.py"), line_of_model())
    assert Path(first["file"]).read_text().split("\n")[first["line"] - 1].strip() == first["text"]
    assert first["element"] == [0, 0]
    assert first["expected"] != first["actual"]
    assert wrong["outputs"]
    assert wrong["script"]["fails"]


def test_people_read_the_same(run, wrong):
    result = run("planted.py:Model", "--no-script")
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    kernel = wrong["first"]["kernel"]
    assert lines[0] == (
        f"The first difference is made in {kernel} at node exp: it computes something else from the same inputs"
    )
    assert any(re.match(rf"  kernel +\S+\.cpp:{wrong['first']['line']}  auto tmp", line) for line in lines)
    assert any(re.match(rf"  made from +script\.py:{line_of_model()}  return", line) for line in lines)
    assert any(re.match(r"  element +at \[0, 0\] eager has \S+, compiled code \S+$", line) for line in lines)
    assert "script" not in result.stdout.replace("script.py", "")


def test_the_step_that_is_told_stops_at_the_line_with_its_node(command, wrong):
    words = shlex.split(wrong["script"]["step"])
    assert words[0] == "pyharness"
    result = command(*words[1:], "--json")
    frame = json.loads(result.stdout)["stops"][0]["stack"][0]
    assert (frame["fx"]["node"], frame["line"]) == ("exp", wrong["first"]["line"]), frame


@pytest.mark.rotated
@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"},
        {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0"},
        {"TORCHINDUCTOR_COMPILE_THREADS": "2", "TORCHINDUCTOR_WORKER_START": "subprocess"},
    ],
    ids=str,
)
def test_right_code_agrees_whatever_torchs_caches_and_workers_are(run, environment):
    words = () if environment else ("--gradients",)
    for _ in ("cold", "warm")[: 1 if environment else 2]:
        result = run("script.py:Model", *words, "--json", **environment)
        assert result.returncode == 0, result.stdout + result.stderr
        verdict = json.loads(result.stdout)
        assert (verdict["headline"], verdict["first"], verdict["notes"]) == ("equal", None, [])
        assert verdict["kernels"]


def test_a_model_without_kernels_is_compared_too(run):
    result = run("script.py:Plain", "--json")
    assert result.returncode == 0, result.stderr
    verdict = json.loads(result.stdout)
    assert (verdict["graphs"], verdict["kernels"], verdict["nodes"]) == (1, 0, 1)


@pytest.mark.parametrize(
    ("model", "environment", "said"),
    [
        ("script.py:Uncompiled", {}, "torch.compile compiled nothing of Uncompiled."),
        ("script.py:Model", {"TORCHDYNAMO_DISABLE": "1"}, "torch.compile compiled nothing of Model."),
        ("script.py:Model", {"CXX": "/bin/false"}, "The C++ compiler failed on what inductor generated: No working"),
        ("script.py:Model", {"CXX": "./cxx", **NO_PRECOMPILED}, "kernel.cpp:7:9: error: 'tmp0' was not declared"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else None,
)
def test_what_cannot_be_compared_is_one_error_with_its_remedy(run, folder, model, environment, said):
    environment = {name: str(folder / "cxx") if value == "./cxx" else value for name, value in environment.items()}
    result = run(model, torch="failing", **environment)
    assert result.returncode == 1
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 2, result.stderr


def test_kernels_are_compared_where_wrappers_are_cxx(run):
    assert run("script.py:Model", TORCHINDUCTOR_CPP_WRAPPER="1").returncode == 0
    result = run("planted.py:Model", "--no-script", "--json", TORCHINDUCTOR_CPP_WRAPPER="1")
    assert result.returncode == 1, result.stderr
    assert json.loads(result.stdout)["first"]["kernel"].startswith("cpp_fused_")


def test_a_transform_or_a_backend_is_wanted(command):
    for words in (("script.py:Model",), ("script.py:Model", "script.py:Plain", "--backend", "inductor")):
        result = command("fx", "verify", *words)
        assert result.returncode == 2
        assert "--backend inductor" in result.stderr


def test_a_folder_that_cannot_be_written_is_one_error(run):
    result = run("planted.py:Model", "-o", "/proc/nowhere")
    assert result.returncode == 1
    assert "The script cannot be written" in result.stderr
    assert "Traceback" not in result.stderr
