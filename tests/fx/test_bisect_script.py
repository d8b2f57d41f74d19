"""The folder that reproduces a fault: it fails by itself, is fixed by a fix, and can be stepped through."""

import importlib.util
import json
import operator
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import bad_passes
import pytest
import torch
from bisect_models import ROOT
from torch import fx, nn

from pyharness import ops
from pyharness.fx import bisect
from pyharness.fx.bisecting.names import Names

pytestmark = pytest.mark.rotated_tests(turns=8)


X = torch.linspace(-1, 1, 12).reshape(3, 4)


def ran(script):
    """Run it as its reader would, in an environment that knows neither pyharness's tests nor its settings."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYHARNESS", "PYTHON"))}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout + done.stderr


class Normed(nn.Module):
    """A call of the op between two others."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return ops.rms_norm(x - 1, self.weight) * 2


def wrong_eps(graph):
    [*_, node] = [node for node in graph.nodes if str(node.target) == "pyharness.rms_norm.default"]
    node.args = (*node.args[:2], 0.5)


def test_an_op_of_ours_alone_and_stepped_into(tmp_path):
    bad = bisect(Normed(), [wrong_eps], (X,), sweep=False, folder=tmp_path / "bad")
    script = Path(bad.script.file)
    assert (bad.script.fails, script) == (True, tmp_path / "bad" / "reproduce.py")
    assert bad.shrunk.calls == 1
    assert f"pyharness step {script} --at fx:{bad.shrunk.node} --into" in str(bad)
    code = (script.parent / "graph_before" / "model.py").read_text()
    assert f"{bad.shrunk.node} = torch.ops.pyharness.rms_norm.default(" in code
    command = [sys.executable, "-m", "pyharness", "step", script, "--at", f"fx:{bad.shrunk.node}", "--into-native"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, cwd=ROOT, timeout=100, check=False)
    stops = json.loads(done.stdout)["stops"]
    assert "rms_norm" in json.dumps(stops[1]), done.stdout + done.stderr
    assert "rms_norm.cpp" in json.dumps(stops[1]), done.stdout + done.stderr


def odd_graph():
    """Tracing its code gives another graph: the call of arange has no input, so it would run at once."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    steps = graph.call_function(torch.arange, (4,), {"dtype": torch.float32})
    marked = graph.call_function(torch.sub, (steps, x))
    marked.meta["marked"] = ("swap", 2)
    graph.output({"result": marked})
    return fx.GraphModule(nn.Module(), graph)


def test_a_local_pass_and_check_on_a_graph_that_cannot_be_traced(tmp_path):
    expected = odd_graph()(X)["result"]
    key, tolerance = "marked", 1e-3

    def swap_marked(graph):
        for node in graph.nodes:
            if node.meta.get(key):
                node.args = node.args[::-1]

    def check(after):
        got = after(X)
        return isinstance(got, dict) and float((got["result"] - expected).abs().max()) < tolerance

    bad = bisect(odd_graph(), [swap_marked], check=check, folder=tmp_path)
    assert bad.script.fails, bad.script.said
    assert bad.notes == ()
    text = (tmp_path / "the_graph.py").read_text()
    assert "graph.create_node('call_function', torch.sub, (arange, x, ), {}, 'sub')" in text
    assert "sub.meta['marked'] = ('swap', 2)" in text
    assert bad.script.said == "It fails: AssertionError: the check says no"

    the_pass = tmp_path / "the_pass.py"
    the_pass.write_text(the_pass.read_text().replace("[::-1]", ""))
    assert ran(bad.script.file) == (0, "It does not fail.\n")


def test_a_lambda_cannot_be_named(tmp_path):
    swap = lambda graph: setattr(list(graph.nodes)[-2], "args", list(graph.nodes)[-2].args[::-1])  # noqa: E731
    bad = bisect(odd_graph(), [swap], (X,), folder=tmp_path)
    line = swap.__code__.co_firstlineno
    assert bad.name == f"lambda at line {line}"
    assert not bad.script.fails
    status, said = ran(bad.script.file)
    assert status == 2
    assert f"Write the pass into {tmp_path}/the_pass.py: the pass lambda at line {line}" in said


ELSEWHERE = """
import functools
import threading
import torch

LOCK = threading.Lock()
LIMITS = {"low": 0.5, "kinds": [torch.float32, slice(1, None), torch.Size([2])]}
TABLE = torch.arange(4.0)

def helper(value, low=LIMITS["low"]):
    return value + low + float(TABLE.sum())

class Base:
    def twice(self, value):
        return helper(value) * 2

class Setting(Base):
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, value: "Unknown") -> "Unknown":
        return self.twice(value) * self.factor + len(LIMITS["kinds"])

def local(setting):
    @functools.lru_cache
    def inner(value):
        return setting(value) + torch.ones(1).item()

    return inner

def shadow(LOCK):
    return [LOCK + step for step in range(2)]

VALUES = [shadow, Setting(3), Setting(3).twice, local(Setting(2)), functools.partial(helper, low=7), helper]
"""


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A module whose file no import by its name finds."""
    path = tmp_path / "other_name.py"
    path.write_text(ELSEWHERE)
    spec = importlib.util.spec_from_file_location("elsewhere", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    spec.loader.exec_module(module)
    return module


def defined(value, name="it"):
    """What a script would get, by a namespace in which its statements ran."""
    names = Names()
    text = names.expression(value)
    assert not names.missing
    namespace = {"DATA": {"names": names.tensors}, "sys": sys, "torch": torch}
    exec("\n".join(["from __future__ import annotations", *names.lines(), f"{name} = {text}"]), namespace)  # noqa: S102
    return namespace[name]


def local(setting):
    def inner(value: "Unknown") -> "Unknown":  # type: ignore[name-defined]  # noqa: F821
        return setting(value) + torch.ones(1).item()

    return inner


@pytest.mark.parametrize("number", range(6))
def test_what_cannot_be_imported_is_copied(elsewhere, number):
    value = elsewhere.VALUES[number]
    got = defined(value)
    assert got is not value
    assert got(5) == value(5)


@pytest.mark.parametrize(
    "value", [bad_passes.swap_operands, torch.relu, operator.add, torch.ops.aten.add.Tensor, nn.Linear, len]
)
def test_what_can_be_imported_is(value):
    assert defined(value) is value


DATA = [None, True, -3, float("-inf"), "a'b", b"x", (1,), [(), {}], {"a": {2}}, torch.float16, slice(1, None), ...]


@pytest.mark.parametrize("value", DATA, ids=repr)
def test_data_as_text(value):
    assert defined(value) == value


def test_what_has_no_text():
    names = Names()
    assert names.expression(lambda: 1) is None
    assert names.expression(object()) is None
    around = type("Node", (), {})()
    around.itself = around
    assert names.expression(around) is None
    assert not names.define("lock", __import__("threading").Lock())
    assert names.missing == ["lock (a lock)"]


def test_a_script_in_main_does_not_start_itself(tmp_path):
    """A pass of ``__main__`` is copied: importing its module would run the search again."""
    source = """
        import torch
        from torch import fx
        from pyharness.fx import bisect

        class Net(torch.nn.Module):
            def forward(self, x):
                return torch.relu(x) - x

        def swap(graph):
            for node in graph.nodes:
                if node.name == "sub":
                    node.args = node.args[::-1]

        print(bisect(Net(), [swap], (torch.linspace(-1, 1, 3),), folder="bad"))
    """
    (tmp_path / "search.py").write_text(textwrap.dedent(source))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "search.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "exits with 1 while the pass fails" in done.stdout, done.stdout + done.stderr
    assert "def swap(graph):" in (tmp_path / "bad" / "the_pass.py").read_text()
