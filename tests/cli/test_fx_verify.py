"""``pyharness fx verify``: the verdict as text, as JSON and as exit status."""

import json

import pytest

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return torch.softmax(torch.relu(self.fc(x)) - x, dim=-1)  # @line

def inputs():
    return torch.linspace(-1, 1, 32).reshape(4, 8)

def by_name():
    return {"x": inputs()}
"""
PASSES = """
import copy
import net
import torch
from torch import fx

def same(graph):
    for node in graph.nodes:
        if node.target is torch.relu:
            node.target = torch.nn.functional.relu

def swapped(module):
    for node in module.graph.nodes:
        if node.name == "sub":
            node.args = node.args[::-1]
    return module

def made():
    return fx.symbolic_trace(net.Net())

def fails(module):
    raise ValueError("no")
"""


@pytest.fixture
def run(typed, tmp_path, monkeypatch):
    for name, text in (("net.py", NET), ("passes.py", PASSES)):
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))

    def runs(*words):
        done = typed("fx", "verify", *words)
        return done.returncode, done.stdout, done.stderr

    return runs


def test_a_pass_that_changes_nothing(run):
    status, out, _ = run("net.py:Net", "passes.py:same")
    assert (status, out) == (0, "The transformed graph does what the original does.\n")


def test_a_function_that_makes_the_graph_and_inputs_by_name(run):
    assert run("net:Net", "passes:made", "--inputs", "net:by_name", "--eval")[0] == 0


def test_a_pass_that_is_wrong(run):
    status, out, _ = run("net.py:Net", "passes.py:swapped")
    assert status == 1
    assert "made by node sub: it takes (x, relu), in the original the order is (relu, x)" in out
    assert f"net.py:{1 + NET.split('# @line', maxsplit=1)[0].count(chr(10))}" in out
    rows = out.split("\n")
    original = next(index for index, row in enumerate(rows) if row.strip().startswith("original"))
    assert rows[original + 1].strip().startswith("is ")
    assert set(rows[original + 2].strip()) == {"^"}


@pytest.mark.parametrize(("verb", "passes"), [("verify", "fails"), ("bisect", "FAIL")])
@pytest.mark.usefixtures("run")
def test_a_model_whose_forward_raises_is_told_with_its_line(typed, verb, passes, tmp_path):
    (tmp_path / "raising.py").write_text(
        f"{NET}\nclass Raising(Net):\n    def forward(self, x):\n        raise KeyError(7)\n"
    )
    (tmp_path / "passes.py").write_text(f"{PASSES}\nFAIL = [fails]\n")
    done = typed("fx", verb, "raising.py:Raising", f"passes.py:{passes}")
    line = len((tmp_path / "raising.py").read_text().splitlines())
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].endswith(f"Raising raises KeyError: 7 ({tmp_path}/raising.py:{line})")


def test_json(run):
    status, out, _ = run("net.py:Net", "passes.py:swapped", "--json")
    first = json.loads(out)["first"]
    assert (status, first["node"], first["kind"], first["module"]) == (1, "sub", "operands", "")
    assert first["difference"]["sizes"]["total"] == 32


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["net.py:Nett", "passes.py:same"], 2, "Did you mean Net?"),
        (["net.py:Net", "passes.py:same", "--inputs", "net.py:input"], 2, "Did you mean inputs"),
        (["passes.py:made", "passes.py:same"], 2, "With which inputs?"),
        (["net.py:inputs", "passes.py:same"], 2, "no module"),
        (["gone.py:Net", "passes.py:same"], 2, "There is no file"),
        (["no.such:Net", "passes.py:same"], 2, "There is no module 'no.such'"),
    ],
)
def test_errors(run, words, status, message):
    found = run(*words)
    assert found[0] == status
    assert message in found[2]
    assert "Traceback" not in found[2]


EXITS = (
    "import sys; sys.exit(7)",
    "raise SystemExit('enough')",
    "import os; os._exit(0)",
    "from os import _exit; _exit(7)",
    "import os; os.execl('/bin/true', 'true')",
)


@pytest.mark.parametrize("verb", ["verify", "bisect"])
@pytest.mark.parametrize("line", EXITS)
def test_code_that_exits_is_said(typed, tmp_path, verb, line):
    (tmp_path / "net.py").write_text(f"{NET}\n")
    (tmp_path / "passes.py").write_text(f"def leaves(graph):\n    {line}\n\nLEAVES = [leaves]\n")
    (tmp_path / "at_once.py").write_text(f"{line}\n")
    done = typed("fx", verb, "net.py:Net", f"passes.py:{'leaves' if verb == 'verify' else 'LEAVES'}")
    assert (done.returncode, "passes.py:2 exits (" in done.stderr) == (1, True), done.stderr
    done = typed("fx", verb, "at_once.py:Net", "passes.py:leaves")
    assert (done.returncode, "at_once.py:1 exits (" in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rtol", "-1"), "--rtol cannot be -1.0."),
        (("--atol", "nan"), "--atol cannot be nan."),
        (("--atol", "inf"), "--atol cannot be inf."),
        (("--backend", "inductor", "--rtol", "nan"), "--rtol cannot be nan."),
        (("--backend", "inductor", "--rtol", "inf"), "--rtol cannot be inf."),
        (("--seed", "9" * 23), f"--seed cannot be {'9' * 23}."),
        (("--seed", "-9223372036854775809"), "from -9223372036854775808 to 18446744073709551615."),
    ],
)
def test_a_number_that_cannot_be_meant_is_refused_before_anything_is_run(typed, tmp_path, monkeypatch, options, said):
    (tmp_path / "loud.py").write_text("print('imported')\n")
    transform = () if "--backend" in options else ("loud.py:ok",)
    monkeypatch.chdir(tmp_path)
    done = typed("fx", "verify", "loud.py:Net", *transform, *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert "imported" not in done.stdout


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1", "0", "1e300"])
def test_a_time_that_is_none_is_refused_before_anything_is_run(typed, tmp_path, monkeypatch, seconds):
    (tmp_path / "loud.py").write_text("print('imported')\n")
    monkeypatch.chdir(tmp_path)
    done = typed("fx", "determinism", "loud.py:ok", "--timeout", seconds)
    assert done.returncode == 2
    assert "--timeout cannot be" in done.stderr


STREAMS = """import io, sys, torch
class Net(torch.nn.Module):
    def forward(self, x):
        return x.relu() + 1
inputs = torch.ones(3)
def keeps(graph_module):
    print("the pass speaks")
    return graph_module
def replaces(graph_module):
    sys.stdout = io.StringIO()
    return graph_module
def closes(graph_module):
    sys.stdout.close()
    return graph_module
"""


@pytest.mark.rotated(turns=5)
@pytest.mark.parametrize("made", ["keeps", "replaces", "closes"])
def test_what_a_pass_does_to_stdout_is_not_done_to_ours(pyharness, tmp_path, made):
    file = tmp_path / "streams.py"
    file.write_text(STREAMS)
    done = pyharness("fx", "verify", f"{file}:Net", f"{file}:{made}")
    assert (done.returncode, done.stderr) == (0, "")
    said = "the pass speaks\n" if made == "keeps" else ""
    assert done.stdout.startswith(f"{said}The transformed graph does what the original does.")
    assert json.loads(pyharness("fx", "verify", f"{file}:Net", f"{file}:replaces", "--json").stdout)
