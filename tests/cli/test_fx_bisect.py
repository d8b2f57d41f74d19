"""``pyharness fx bisect``: the bad pass as text, as JSON and as exit status."""

import json

import pytest

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        return torch.softmax(torch.relu(x) - x, dim=-1)

def inputs():
    return torch.linspace(-1, 1, 8)
"""
PASSES = """
def same(gm):
    return gm

def swapped(graph):
    for node in graph.nodes:
        if node.name == "sub":
            node.args = node.args[::-1]

PASSES = [same, swapped, same]

def good():
    return {"first": same, "second": same}

def small(gm):
    return "x - relu" not in gm.code

NUMBER = 3
"""


@pytest.fixture
def run(typed, tmp_path, monkeypatch):
    for name, text in (("bisect_net.py", NET), ("bisect_passes.py", PASSES)):
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))

    def go(*words):
        done = typed("fx", "bisect", *words)
        return done.returncode, done.stdout, done.stderr

    return go


def test_a_bad_pass(run, tmp_path):
    status, out, err = run("bisect_net.py:Net", "bisect_passes.py:PASSES", "-o", "bad")
    assert (status, err) == (1, "")
    assert out.startswith("The first bad pass is swapped, 2 of 3: node sub: ")
    assert "  script     python bad/reproduce.py  exits with 1 while the pass fails" in out.split("\n")
    assert (tmp_path / "bad" / "graph_before" / "model.py").is_file()


def test_json(run):
    status, out, _ = run("bisect_net.py:Net", "bisect_passes.py:PASSES", "--no-script", "--json")
    found = json.loads(out)
    assert status == 1
    assert (found["name"], found["index"], found["total"], found["calls"]) == ("swapped", 1, 3, 3)
    assert (found["node"], found["shrunk"]["calls"], found["shrunk"]["node"]) == ("sub", 1, "sub")
    assert "-    sub = relu - x" in found["shrunk"]["change"]
    assert found["script"] is None


def test_a_check_of_ones_own(run):
    words = ("bisect_net.py:Net", "bisect_passes.py:PASSES", "--check", "bisect_passes.py:small", "--no-script")
    status, out, _ = run(*words)
    assert status == 1
    assert out.startswith("The first bad pass is swapped, 2 of 3: the check says no")


def test_good_passes(run):
    assert run("bisect_net.py:Net", "bisect_passes.py:good")[:2] == (
        0,
        "The check is good after all 2 passes, and after each of them.\n",
    )


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        ("bisect_passes.py:PASS", "has no 'PASS'"),
        ("bisect_passes.py:NUMBER", "A int is not a list of passes."),
        ("nowhere.py:PASSES", "There is no file"),
    ],
)
def test_what_cannot_be_meant(run, passes, message):
    status, _, err = run("bisect_net.py:Net", passes)
    assert status == 2
    assert message in err
    assert "Traceback" not in err
