"""Callbacks see what flows into a node; breakpoints stop on its generated line, in pdb and in the harness."""

import copy
import json
import os
import pickle
import subprocess
import sys

import pytest
import torch
from torch import fx, nn

from kit.command import PYHARNESS
from kit.paths import PROGRAMS, search_path
from pyharness.fx import provenance, trace
from pyharness.fx.transforms import breakpoint_before, probe
from pyharness.model.errors import UsageError

PROGRAM = PROGRAMS / "fx_breakpoint.py"
SEEN = []


def note(probed):
    SEEN.append(probed)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        self.bias = nn.Parameter(torch.ones(4))

    def forward(self, x, scale=2.0):
        return torch.add(torch.relu(self.layers(x)), self.bias, alpha=scale)


@pytest.fixture(autouse=True)
def forget():
    SEEN.clear()


@pytest.fixture
def module():
    torch.manual_seed(0)
    return trace(Net())


def code_before(module, name):
    lines = [line.strip() for line in module.code.split("\n")]
    return lines[next(index for index, line in enumerate(lines) if line.startswith(f"{name} = ")) - 1]


@pytest.mark.parametrize(
    ("where", "node", "path"),
    [
        ("relu", "relu", ""),
        ("layers.1", "layers_1", "layers.1"),
        ("layers.*", "layers_0", "layers.0"),
        ("layers", "layers_0", "layers.0"),
        (lambda node: node.target is torch.add, "add", ""),
    ],
)
def test_a_callback_sees_the_arguments(module, where, node, path):
    x = torch.randn(2, 4)
    result = probe(module, where, note)
    torch.testing.assert_close(result(x), module(x), rtol=0, atol=0)
    assert (SEEN[0].node, SEEN[0].module) == (node, path)
    assert f"self.probe_{node}(" in code_before(result, node)
    if node == "layers_0":
        assert SEEN[0].value is x
    if node == "add":
        assert SEEN[0].args[1] is module.bias
        assert SEEN[0].kwargs == {"alpha": 2.0}


def test_a_node_itself_and_several_at_once(module):
    relu = module.graph.find_nodes(op="call_function", target=torch.relu)[0]
    probe(module, relu, note)(torch.ones(1, 4))
    assert [seen.node for seen in SEEN] == ["relu"]
    probe(module, "layers*", note)(torch.ones(1, 4))
    assert [seen.node for seen in SEEN] == ["relu", "layers_0", "layers_1"]


def test_inputs_attributes_and_the_output(module):
    result = module
    for name in ("x", "scale", "bias", "output"):
        result = probe(result, name, note)
    x = torch.ones(1, 4)
    y = result(x, 3.0)
    values = {seen.node: seen.value for seen in SEEN}
    assert values["x"] is x
    assert values["scale"] == 3.0
    assert values["bias"] is module.bias
    assert values["output"] is y


def test_a_probe_has_the_provenance_of_its_node(module):
    result = probe(module, "relu", note)
    nodes = {node.name: node for node in result.graph.nodes}
    assert provenance.of(nodes["probe_relu"])[1:] == provenance.of(nodes["relu"])[1:]


def cleaned(module):
    module.graph.eliminate_dead_code()
    module.recompile()
    return module


def interpreted(module):
    return lambda x: fx.Interpreter(module).run(x)


WAYS = {
    "dead code": cleaned,
    "deepcopy": copy.deepcopy,
    "pickle": lambda module: pickle.loads(pickle.dumps(module)),  # noqa: S301
    "traced again": trace,
    "torch traces again": fx.symbolic_trace,
    "Transformer": lambda module: fx.Transformer(module).transform(),
    "Interpreter": interpreted,
}


@pytest.mark.parametrize("way", WAYS)
def test_it_stays_and_nothing_calls_it_meanwhile(module, way):
    result = WAYS[way](probe(probe(module, "relu", note), "x", note))
    assert SEEN == []
    result(torch.ones(1, 4))
    assert [seen.node for seen in SEEN] == ["x", "relu"]


def test_two_probes_of_one_node(module):
    probe(probe(module, "relu", note), "relu", note)(torch.ones(1, 4))
    assert [seen.node for seen in SEEN] == ["relu", "relu"]


def test_an_exception_goes_through(module):
    def stops(probed):
        raise ValueError(probed.node)

    with pytest.raises(ValueError, match="relu"):
        probe(module, "relu", stops)(torch.ones(1, 4))


def test_errors(module):
    with pytest.raises(UsageError, match="no node 'rleu'") as caught:
        probe(module, "rleu", note)
    assert "relu" in str(caught.value)
    with pytest.raises(UsageError, match="No node is one for <lambda>"):
        probe(module, lambda _: False, note)
    with pytest.raises(UsageError, match="3 names no node"):
        probe(module, 3, note)
    with pytest.raises(UsageError, match="3 cannot be called"):
        probe(module, "relu", 3)


# --- breakpoints ------------------------------------------------------------------------------------------------------


def test_pdb_stops_on_the_nodes_line_and_steps_on():
    commands = "p ('before', tuple(linear.shape))\nn\np ('after', relu.min().item() >= 0)\nc\n"
    environment = os.environ | {"PYTHONPATH": search_path()}
    environment.pop("PYTHONBREAKPOINT", None)
    command = [sys.executable, str(PROGRAM)]
    done = subprocess.run(
        command, input=commands, capture_output=True, text=True, timeout=120, check=True, env=environment
    )
    assert "-> relu = torch.relu(linear)" in done.stdout, done.stdout
    assert "('before', (3, 4))" in done.stdout
    assert "('after', True)" in done.stdout
    assert done.stdout.count("-> relu = ") == 1, "the condition holds once"
    assert done.stdout.endswith("done\n")


def test_the_harness_stops_there_with_the_node_and_its_origin():
    command = [*PYHARNESS, "step", str(PROGRAM), "--at", f"{PROGRAM.name}:22"]
    done = subprocess.run(
        [*command, "--continue", "--stack", "--json"], capture_output=True, text=True, timeout=150, check=True
    )
    stop = json.loads(done.stdout)["stops"][1]
    frame = stop["stack"][0]
    assert frame["fx"]["node"] == "relu", stop
    assert frame["function"] == "forward"


def test_a_program_may_forbid_it(module, monkeypatch):
    stopped = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stopped.append(True))
    result = breakpoint_before(module, "relu")
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    result(torch.ones(2, 4))
    assert stopped == []
    monkeypatch.setenv("PYTHONBREAKPOINT", "somebody.hook")
    result(torch.ones(2, 4))
    assert stopped == [True]


def test_a_condition_sees_the_values(module, monkeypatch):
    stopped = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stopped.append(True))
    result = breakpoint_before(module, "relu", lambda probed: probed.value.shape[0] == 3)
    result(torch.ones(2, 4))
    assert stopped == []
    result(torch.ones(3, 4))
    assert stopped == [True]
    trace(result)
    assert stopped == [True]
