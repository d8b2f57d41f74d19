"""Views of a GraphModule in hand: what they print, return and leave alone."""

import json
import re

import fx_models
import pytest
import torch
from torch import fx, nn

from kit.marks import line_of
from pyharness import views
from pyharness.fx import Tracer
from pyharness.model.errors import UsageError


@pytest.fixture
def traced(model):
    return fx.GraphModule(model, fx.Tracer().trace(model))


def test_a_table_code_and_a_drawing(model, capsys):
    module = fx.GraphModule(model, Tracer().trace(model))
    views.show(module)
    line = f"fx_models.py:{line_of('relu', fx_models.__file__)}"
    assert re.search(rf"relu +call_function +torch\.relu +blocks\.0 +\d+ +\S*{line}", capsys.readouterr().out)
    views.show(module, "code")
    assert re.search(rf"= .*linear\(\w+\) +blocks\.0\.linear +\S*{line} +return torch\.relu", capsys.readouterr().out)
    views.show(module, "graph")
    assert "●─╯" in capsys.readouterr().out


def test_shapes_come_from_a_run_of_a_copy(traced):
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(4)

        def forward(self, x):
            return nn.functional.dropout(self.norm(x), 0.5).sum(0), {"count": x.shape[0]}

    module = fx.symbolic_trace(Noisy())
    shapes = {node.name: node.shape for node in views.graph_of(module, (torch.randn(3, 4),)).nodes}
    assert shapes["x"] == shapes["norm"] == shapes["dropout"] == "float32[3, 4]"
    assert shapes["sum_1"] == "float32[4]"
    assert shapes["output"] == "(float32[4], {count: 3})"
    assert module.norm.num_batches_tracked == 0
    assert {node.shape for node in views.graph_of(traced).nodes if node.op == "call_function"} == {""}


def test_the_random_state_stays():
    module = fx.symbolic_trace(nn.Dropout(0.5))
    inputs = (torch.randn(2, 4),)
    state = torch.random.get_rng_state()
    views.graph_of(module, inputs)
    assert torch.equal(state, torch.random.get_rng_state())


def test_a_pass_in_place_is_compared_with_what_was_before(traced, capsys):
    before = views.graph_of(traced)
    first = next(node for node in traced.graph.nodes if node.name == "relu")
    first.target = torch.sigmoid
    with traced.graph.inserting_after(first):
        added = traced.graph.call_function(torch.neg, (first,))
    first.replace_all_uses_with(added, delete_user_cb=lambda user: user is not added)
    traced.recompile()
    found = views.diff(before, traced)
    assert found.counts["changed"] == 2
    assert found.counts["added"] == 1
    text = capsys.readouterr().out
    assert re.search(r"relu = torch\.relu\((\w+)\) +~ +relu = torch\.sigmoid\(\1\)", text)
    assert re.search(r"\+ +neg = torch\.neg\(relu\)", text)
    assert views.diff(traced, traced).same


def test_a_page(traced, tmp_path):
    file = views.draw(traced, tmp_path / "graph.html", inputs=(torch.randn(2, 4),))
    data = json.loads(re.search(r'id="data">(.*?)</script>', file.read_text(), re.DOTALL)[1])
    nodes = data["graphs"][0]["nodes"]
    assert [node["name"] for node in nodes] == [node.name for node in traced.graph.nodes]
    assert next(node for node in nodes if node["name"] == "relu")["shape"] == "float32[2, 4]"


def test_what_cannot_be_meant(traced, tmp_path):
    with pytest.raises(UsageError, match=r"This is a Linear, not a torch\.fx\.GraphModule"):
        views.show(nn.Linear(1, 1))
    with pytest.raises(UsageError, match="Did you mean code"):
        views.show(traced, "cod")
    with pytest.raises(UsageError, match="There is no folder"):
        views.draw(traced, tmp_path / "no" / "graph.html")
