"""Leaves by rule, tags on nodes, and what survives when a graph is copied, transformed, pickled or traced again."""

import copy
import importlib
import io
import math
import pickle
from pathlib import Path

import fx_models
import pytest
import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp

from kit.paths import ROOT
from pyharness.fx import CannotTraceError, Tracer, provenance, remember, tag, tagged, tags_of, trace
from pyharness.model.errors import UsageError


def of(module):
    return {node.name: provenance.of(node) for node in module.graph.nodes}


def calls(module):
    return {node.target for node in module.graph.nodes if node.op == "call_module"}


@pytest.fixture
def resnet18(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    return importlib.import_module("resnet18").ResNet18()


def test_every_node_of_resnet18_has_its_module(resnet18):
    module = trace(resnet18)
    ops = [node for node in module.graph.nodes if node.op not in {"placeholder", "output"}]
    modules = dict(resnet18.named_modules())
    seen = set()
    for node in ops:
        path, file, line = provenance.of(node)
        assert path in modules, node
        source = Path(file).read_text().splitlines()[line - 1]
        if node.op == "call_module":
            assert path == node.target
            assert not list(modules[path].children())
        else:  # made by the module's own forward: relu and + in a block, the mean in the root
            assert type(modules[path]).__name__ in {"BasicBlock", "ResNet18"}
            assert any(name in source for name in ("torch.relu", "mean("))
        seen.add(path)
    leaves = {path for path, each in modules.items() if not list(each.children())}
    blocks = {path for path, each in modules.items() if type(each).__name__ == "BasicBlock"}
    assert seen == leaves | blocks | {""}
    assert len(ops) == 73
    assert [provenance.of(node).module for node in module.graph.nodes if node not in ops] == ["", None]


def test_each_tracer_has_its_own_table(model):
    first, second = Tracer(), Tracer()
    assert first.provenance == {}
    first.trace(model)
    before = dict(first.provenance)
    second.trace(nn.Sequential(nn.ReLU()))
    assert first.provenance == before
    assert "mul" in before
    assert list(second.provenance) == ["input_1", "_0", "output"]
    first.trace(nn.Sequential(nn.ReLU()))
    assert list(first.provenance) == list(second.provenance)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.norm = nn.BatchNorm1d(4)
        self.blocks = nn.ModuleList([fx_models.Block(), fx_models.Block()])
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))

    def forward(self, x):
        x = self.norm(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


BLOCKS = {"blocks.0", "blocks.1"}
NORMS = {"blocks.0.norm", "blocks.1.norm"}
LINEAR = {"blocks.0.linear", "blocks.1.linear"}
DEFAULT = {"stem.0", "stem.1", "norm", "head.0", "head.1"} | LINEAR


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, DEFAULT),
        ({"inline": nn.ReLU}, DEFAULT - {"stem.1", "head.0"}),
        ({"inline": "head.*"}, DEFAULT - {"head.0", "head.1"}),
        ({"inline": nn.ReLU, "leaves": "stem.*"}, DEFAULT - {"head.0"}),
        ({"inline": "head.0", "leaves": nn.ReLU}, DEFAULT - {"head.0"}),
        ({"inline": nn.ReLU, "leaves": nn.ReLU}, DEFAULT),
        ({"leaves": fx_models.Block}, DEFAULT - LINEAR | BLOCKS),
        ({"leaves": "blocks.1"}, DEFAULT - {"blocks.1.linear"} | {"blocks.1"}),
        ({"leaves": ["stem", fx_models.Norm]}, DEFAULT - {"stem.0", "stem.1"} | {"stem"} | NORMS),
        ({"inline": lambda _, path: path.startswith("stem")}, DEFAULT - {"stem.0", "stem.1"}),
        ({"inline": lambda each, _: isinstance(each, nn.Linear), "leaves": "head.1"}, DEFAULT - {"stem.0"} - LINEAR),
    ],
)
def test_leaves_by_path_type_and_predicate(rules, expected):
    net = Net().eval()
    module = trace(net, **rules)
    assert calls(module) == expected
    x = torch.randn(3, 4)
    torch.testing.assert_close(module(x), net(x), rtol=0, atol=0)


def test_a_module_can_be_named_by_itself():
    net = Net()
    assert calls(trace(net, leaves=net.blocks[0])) == DEFAULT - {"blocks.0.linear"} | {"blocks.0"}


def test_a_relu_becomes_its_function_with_its_module():
    module = trace(Net(), inline=nn.ReLU)
    made = [node for node in module.graph.nodes if node.target is torch.nn.functional.relu]
    assert [provenance.of(node).module for node in made] == ["stem.1", "head.0"]


def test_buffers_of_an_inlined_module_are_nodes():
    class Running(nn.Module):
        __module__ = "torch.nn.test"

        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, x):
            self.seen.add_(1)
            return x * self.seen

    net = nn.Sequential(Running())
    assert calls(trace(net)) == {"0"}
    module = trace(net, inline="0")
    assert net[0].seen == 0, "tracing counts nothing"
    assert [module(torch.ones(())).item() for _ in range(2)] == [1, 2]


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"leaves": "block.0"}, ("no module 'block.0'", "blocks.0")),
        ({"inline": "nothing*"}, ("no module 'nothing*'",)),
        ({"leaves": torch.Tensor}, ("Tensor is not a class of modules", "path such as")),
        ({"leaves": [3]}, ("3 names no module",)),
        ({"tags": [3]}, ("3 tags no nodes",)),
    ],
)
def test_a_rule_that_means_nothing_is_an_error(rules, words):
    with pytest.raises(UsageError) as caught:
        trace(Net(), **rules)
    assert all(word in str(caught.value) for word in words)


def test_a_forward_that_cannot_be_traced_is_named():
    with pytest.raises(CannotTraceError) as caught:
        trace(Net(), inline="norm")
    text = str(caught.value)
    assert text.startswith("norm (BatchNorm1d) cannot be traced at ")
    assert "leaves='norm'" in text

    def branches(x):
        return x if x.sum() > 0 else -x

    with pytest.raises(fx.proxy.TraceError) as caught:
        trace(branches)
    line = branches.__code__.co_firstlineno + 1
    assert f"the root (branches) cannot be traced at {__file__}:{line}:" in str(caught.value)


# --- tags -------------------------------------------------------------------------------------------------------------


class Tagged(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x):
        with tagged(stage="inner"):
            y = self.inner(x)
        return torch.tanh(y) + 1


def by_name(node):
    return {"first": node.name[0]}


EXPECTED = {
    "x": {"first": "x"},
    "inner_0": {"first": "i", "stage": "inner"},
    "inner_1": {"first": "i", "stage": "inner"},
    "tanh": {"first": "t"},
    "add": {"first": "a"},
    "output": {"first": "o"},
}


def tags_in(module):
    return {node.name: tags_of(node) for node in module.graph.nodes}


def test_tags_as_nodes_are_created():
    assert tags_in(trace(Tagged(), tags=by_name)) == EXPECTED


def test_tags_around_a_trace_and_torchs_own_annotation():
    with tagged(run=1), torch.fx.traceback.annotate({"team": "a"}):
        module = trace(Tagged())
    assert all(tags["run"] == 1 and tags["team"] == "a" for tags in tags_in(module).values())
    assert tags_in(trace(Tagged()))["tanh"] == {}


def test_tags_reach_an_exported_program():
    with torch.fx.traceback.preserve_node_meta():
        program = torch.export.export(Tagged(), (torch.ones(2, 4),))
    tags = {node.name: tags_of(node).get("stage") for node in program.graph.nodes}
    assert tags["linear"] == tags["relu"] == "inner"
    assert tags["tanh"] is None


class Rewriting(fx.Transformer):
    def call_function(self, target, args, kwargs):
        return super().call_function(torch.sin if target is torch.tanh else target, args, kwargs)


def loaded(module):
    return pickle.loads(pickle.dumps(module))  # noqa: S301  (our own)


def torch_loaded(module):
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


def node_copied(module):
    graph = fx.Graph()
    known = {}
    for node in module.graph.nodes:
        known[node] = graph.node_copy(node, known.__getitem__)
    return fx.GraphModule(module, graph)


def recompiled(module):
    module.recompile()
    return module


def shown(module):
    ShapeProp(module).propagate(torch.ones(2, 4))
    return module


def traced_again(module):
    return trace(module)


WAYS = {
    "recompile": recompiled,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "node_copy": node_copied,
    "pickle": loaded,
    "torch.save": torch_loaded,
    "pickle of a deepcopy": lambda module: loaded(copy.deepcopy(module)),
    "pickle twice": lambda module: loaded(loaded(module)),
    "deepcopy of a pickle": lambda module: copy.deepcopy(loaded(module)),
    "shape propagation": shown,
    "tracing again": traced_again,
    "remember": lambda module: loaded(remember(node_copied(module))),
}


@pytest.mark.parametrize("way", WAYS)
def test_provenance_and_tags_survive(way):
    module = trace(Tagged(), tags=by_name)
    survived = WAYS[way](module)
    assert tags_in(survived) == EXPECTED
    assert of(survived) == of(module)
    assert of(survived)["tanh"].line == Tagged.forward.__code__.co_firstlineno + 3
    x = torch.randn(2, 4)
    torch.testing.assert_close(survived(x), module(x), rtol=0, atol=0)


@pytest.mark.parametrize("after", [lambda module: module, lambda module: loaded(remember(module))])
def test_they_survive_torchs_transformer(after):
    module = trace(Tagged(), tags=by_name)
    survived = after(Rewriting(module).transform())
    tags = list(tags_in(survived).values())
    assert tags[1:] == list(EXPECTED.values())[1:]  # torch makes inputs anew
    assert list(of(survived).values())[1:-1] == list(of(module).values())[1:-1]


def test_tags_added_later_are_pickled_and_shared_with_no_copy():
    module = trace(Tagged())
    copied = copy.deepcopy(module)
    node = next(each for each in module.graph.nodes if each.name == "tanh")
    tag(node, cost=3)
    assert tags_in(loaded(module))["tanh"] == {"cost": 3}
    assert tags_in(copied)["tanh"] == {}


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return torch.tanh(x * self.weight) * self.weight


def test_a_pickle_of_an_edited_graph_aligns_what_tracing_it_joins():
    module = trace(Twice(), tags=by_name)
    graph = module.graph
    last = next(node for node in graph.nodes if node.name == "mul_1")
    with graph.inserting_before(last):  # a second reading of one attribute, which tracing makes one again
        last.args = (last.args[0], graph.get_attr("weight"))
    module.recompile()
    assert [tags.get("first") for tags in tags_in(loaded(module)).values()] == ["x", "w", "m", "t", "m", "o"]


def annotated(x: "torch.Tensor", scale: "float | Unknown" = 2.0) -> "torch.Tensor":  # type: ignore[name-defined]  # noqa: F821
    return x * scale


def postponed(x: "torch.Tensor", scale: "float | None" = 2.0) -> "torch.Tensor":
    return x * scale


@pytest.mark.parametrize("function", [annotated, postponed])
def test_postponed_annotations_can_be_pickled(function):
    module = loaded(trace(function))
    assert module(torch.ones(2), 3.0).tolist() == [3, 3]
    types = [node.type for node in trace(function).graph.nodes]
    assert types == ([torch.Tensor, None, None, torch.Tensor] if function is postponed else [None] * 4)


class Local(Tracer):
    def trace(self, root, concrete_args=None):
        return super().trace(root, concrete_args)


def test_derived_tracers_pickle_as_before():
    class Hidden(Tracer):
        pass

    for tracer in (Local(), Hidden()):
        net = Tagged()
        module = loaded(fx.GraphModule(net, tracer.trace(net)))
        assert calls(module) == {"inner.0", "inner.1"}
        assert (of(module)["tanh"].module == "") is (type(tracer) is Local)


def test_torchs_own_arguments_are_passed_on():
    tracer = Tracer((math,), (math.isqrt,), leaves=fx_models.Block)
    graph = tracer.trace(lambda x: x * math.isqrt(x.shape[0]))
    assert math.isqrt in {node.target for node in graph.nodes}


def test_a_deep_copy_of_a_tracer_traces():
    tracer = Tracer(leaves="inner")
    tracer.trace(Tagged())
    assert isinstance(copy.copy(tracer).trace(Tagged()), fx.Graph)
