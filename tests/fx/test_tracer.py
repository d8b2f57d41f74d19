"""Where each node came from: the module, and the user's line."""

import pytest
import torch
from torch import fx, nn

from kit import needs
from pyharness.fx import Tracer, materialize


def places(graph, root=None):
    made = materialize(fx.GraphModule(root or nn.Module(), graph))
    return {entry.node: entry for entry in made.source_map.lines}


@needs.LINES_OF_A_COPY
def test_modules_and_lines(model, line_of):
    tracer = Tracer()
    entries = places(tracer.trace(model), model)
    seen = [(node, entry.module) for node, entry in entries.items() if entry.op not in {"placeholder", "output"}]
    assert seen[:4] == [
        ("norm", "blocks.0.norm"),
        ("truediv", "blocks.0.norm"),
        ("blocks_0_norm_weight", "blocks.0.norm"),
        ("mul", "blocks.0.norm"),
    ]
    assert ("blocks_1_linear", "blocks.1.linear") in seen
    assert entries["add_1"].module == "blocks.1"
    assert entries["sum_1"].module == ""
    assert entries["output"].module is None
    origin = {node: (entry.origin_file, entry.origin_line) for node, entry in entries.items()}
    assert origin["mul"] == line_of("norm")
    assert origin["relu_1"] == line_of("relu")
    assert origin["sum_1"] == line_of("sum")
    assert origin["x"] == origin["output"] == line_of("def")
    assert tracer.provenance["mul"].module == "blocks.0.norm"


class Raises(nn.Module):
    def forward(self, x):
        x = torch.relu(x)
        raise ValueError("no")


class Catches(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Raises()

    def forward(self, x):
        try:
            x = self.inner(x)
        except ValueError:
            x = torch.tanh(x)
        return x


def test_a_call_that_raises_gives_the_module_back():
    root = nn.Sequential(Catches())
    graph = Tracer().trace(root)
    tanh = next(node for node in graph.nodes if node.name == "tanh")
    assert tanh.meta["pyharness"][0] == "0"
    assert list(tanh.meta["nn_module_stack"]) == ["0"]


def test_it_combines_with_other_tracers():
    class Noting(fx.Tracer):
        def create_node(self, *args, **kwargs):
            node = super().create_node(*args, **kwargs)
            node.meta["noted"] = True
            return node

    class Both(Tracer, Noting):
        def is_leaf_module(self, *_):
            return True

    graph = Both().trace(nn.Sequential(Raises()))
    assert all(node.meta["noted"] and "pyharness" in node.meta for node in graph.nodes)


def test_a_line_is_still_found_once_dynamo_is_loaded():
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))
    graph = Tracer().trace(nn.Sequential(nn.ReLU()))
    called = next(node for node in graph.nodes if node.op == "call_module")
    assert called.meta["pyharness"][1] == __file__


def test_torchs_stack_traces_stay_as_they_are(model):
    def stack_traces(tracer):
        tracer.record_stack_traces = True
        return [node.stack_trace for node in tracer.trace(model).nodes]

    mine, stock = [stack_traces(tracer) for tracer in (Tracer(), fx.Tracer())]
    assert mine == stock
    assert any(mine)


def test_node_copies_keep_it(model):
    module = fx.GraphModule(model, Tracer().trace(model))
    copied = fx.Graph()
    copied.output(copied.graph_copy(module.graph, {}))
    assert places(copied, model)["mul"].module == "blocks.0.norm"


def test_retracing_generated_code_leads_to_the_first_source(model, line_of):
    module = fx.GraphModule(model, Tracer().trace(model))
    materialize(module)
    root = nn.Sequential(module)
    again = places(Tracer().trace(root), root)
    entry = next(each for each in again.values() if each.target == "torch.relu")
    assert (entry.module, (entry.origin_file, entry.origin_line)) == ("0.blocks.0", line_of("relu"))


def test_torchs_own_record_is_read():
    graph = fx.Graph()
    x = graph.placeholder("x")
    node = graph.call_function(torch.relu, (x,))
    node.meta["nn_module_stack"] = {"1": ("getattr(L['self'].blocks, '0')._modules['norm'].act", nn.ReLU)}
    torch_file = torch.nn.functional.__file__
    node.stack_trace = f'File "/home/me/net.py", line 3, in forward\n  x\nFile "{torch_file}", line 9, in relu\n  y'
    graph.output(node)
    entry = places(graph)["relu"]
    assert (entry.module, entry.origin_file, entry.origin_line) == ("blocks.0.norm.act", "/home/me/net.py", 3)


@pytest.mark.parametrize(
    ("expression", "path"),
    [
        ("L['self']", ""),
        ("L['self'].blk.a.0", "blk.a.0"),
        ("G['model'].blocks[0].norm", "blocks.0.norm"),
        ("getattr(getattr(L['self'].a, '2'), '0')", "a.2.0"),
        ("L['self']._modules['blocks']._modules['0']", "blocks.0"),
        ("blocks.0.norm", "blocks.0.norm"),
        ("", ""),
    ],
)
def test_dynamos_paths(expression, path):
    from pyharness.fx.provenance import plain_path

    assert plain_path(expression) == path


@fx.wrap
def halved(x):
    return x / 2


def test_a_wrapped_function_that_a_pass_has_replaced_is_in_the_way_of_no_later_trace():
    def forward(x):
        return halved(x) + 1

    module = fx.GraphModule(nn.Module(), Tracer().trace(forward))
    for node in module.graph.find_nodes(op="call_function", target=halved):
        node.target, node.args = torch.mul, (node.args[0], 0.5)
    module.recompile()
    assert 'wrap("torch.mul")' in module.code
    assert Tracer().trace(forward).find_nodes(op="call_function", target=halved)
