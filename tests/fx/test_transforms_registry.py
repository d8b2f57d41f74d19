"""What every transform keeps to: its input stays as it was, its result lints, its nodes carry its name."""

import copy

import pytest
import torch
from torch import fx, nn

from pyharness.fx import provenance, tagged, tags_of, trace
from pyharness.fx.transforms import TRANSFORMS, TransformError, named, transform
from pyharness.model.errors import UsageError


@pytest.fixture
def made():
    names = set(TRANSFORMS)
    yield
    for name in set(TRANSFORMS) - names:
        del TRANSFORMS[name]


@pytest.fixture
def doubled(made):  # noqa: ARG001
    @transform("doubled")
    def doubled(module, *, times=2):
        """Twice the result."""
        output = module.graph.output_node()
        with module.graph.inserting_before(output):
            output.args = (module.graph.call_function(torch.mul, (output.args[0], times)),)

    return doubled


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.drop = nn.Dropout()

    def forward(self, x):
        return self.drop(torch.relu(self.linear(x)))


def text(module):
    return module.code, [(node.name, node.meta) for node in module.graph.nodes]


def test_the_input_stays_and_parameters_are_shared(doubled):
    module = trace(Net().eval())
    before = copy.deepcopy(text(module))
    result = doubled(module, times=3)
    assert text(module) == before
    assert result is not module
    assert result.linear is module.linear
    assert type(result).__name__ == "Net"
    assert not result.training
    x = torch.randn(2, 3)
    torch.testing.assert_close(result(x), 3 * module(x))


def test_made_nodes_carry_its_name_and_open_tags(doubled):
    module = trace(Net())
    with tagged(why="test"):
        result = doubled(module)
    tags = {node.name: tags_of(node) for node in result.graph.nodes}
    assert tags.pop("mul") == {"transform": "doubled", "why": "test"}
    assert not any(tags.values())


def test_a_graph_gives_a_graph(doubled):
    module = trace(Net())
    graph = doubled(module.graph)
    assert isinstance(graph, fx.Graph)
    assert isinstance(graph.owning_module.linear, nn.Linear)
    loose = fx.Graph()
    loose.output(loose.call_function(torch.relu, (loose.placeholder("x"),)))
    assert doubled(loose).owning_module(torch.ones(2)).tolist() == [2, 2]


def test_they_chain_and_keep_provenance(doubled):
    module = trace(Net())
    result = doubled(doubled(module))
    assert [tags_of(node).get("transform") for node in result.graph.nodes][-3:] == ["doubled", "doubled", None]
    known = {node.name: provenance.of(node) for node in result.graph.nodes}
    assert known["relu"] == {node.name: provenance.of(node) for node in module.graph.nodes}["relu"]


@pytest.mark.usefixtures("made")
def test_new_nodes_have_the_provenance_of_those_that_they_replace():
    @transform("softplus_for_relu")
    def softplus_for_relu(module):
        for node in module.graph.find_nodes(op="call_function", target=torch.relu):
            with module.graph.inserting_after(node):
                exp = module.graph.call_function(torch.exp, node.args)
            with module.graph.inserting_after(exp):
                log = module.graph.call_function(torch.log1p, (exp,))
            node.replace_all_uses_with(log)
            module.graph.erase_node(node)

    module = trace(Net(), tags=lambda node: {"was": node.name})
    result = softplus_for_relu(module)
    for name in ("exp", "log1p"):
        node = next(each for each in result.graph.nodes if each.name == name)
        assert provenance.of(node) == ("", __file__, Net.forward.__code__.co_firstlineno + 1)
        assert tags_of(node) == {"was": "relu", "transform": "softplus_for_relu"}
    assert not any("transform" in tags_of(node) for node in result.graph.nodes if node.name not in {"exp", "log1p"})


@pytest.mark.usefixtures("made")
def test_a_broken_result_is_an_error():
    @transform("missing")
    def missing(module):
        module.graph.find_nodes(op="call_module")[0].target = "nowhere"

    @transform("reordered")
    def reordered(module):
        last = module.graph.output_node().args[0]
        relu = module.graph.find_nodes(op="call_function", target=torch.relu)[0]
        last.append(relu)

    for each in (missing, reordered):
        with pytest.raises(TransformError, match=f"{each.name} left a graph that cannot run") as caught:
            each(trace(Net()))
        assert each.__qualname__ in str(caught.value)  # type: ignore[attr-defined]


def test_a_module_that_nobody_traced_is_an_error(doubled):
    with pytest.raises(UsageError, match=r"doubled takes a torch.fx.GraphModule or Graph, not Net") as caught:
        doubled(Net())
    assert "pyharness.fx.trace" in str(caught.value)


def test_names(doubled):
    assert named("doubled") is doubled
    assert doubled.__doc__ == "Twice the result."
    assert repr(doubled) == "<transform doubled>"
    assert {"inline", "invert", "replace", "probe", "breakpoint"} <= set(TRANSFORMS)
    with pytest.raises(UsageError, match="no transform 'inlne'") as caught:
        named("inlne")
    assert "inline" in str(caught.value)


@pytest.mark.usefixtures("made")
def test_a_second_one_of_a_name_fails_but_not_the_same_again():
    def define():
        @transform("twice")
        def first(module):
            del module

    define()
    define()
    with pytest.raises(ValueError, match="two transforms 'twice'"):

        @transform("twice")
        def second(module):
            del module


@pytest.mark.usefixtures("made")
def test_one_that_makes_its_graph_by_a_transformer():
    class Sines(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.sin if target is torch.relu else target, args, kwargs)

    @transform("sines")
    def sines(module):
        return Sines(module).transform()

    module = trace(Net().eval())
    result = sines(module)
    assert [node.target for node in result.graph.nodes if node.op == "call_function"] == [torch.sin]
    sin = result.graph.find_nodes(op="call_function", target=torch.sin)[0]
    assert provenance.of(sin).line == Net.forward.__code__.co_firstlineno + 1
    assert [tags_of(node).get("transform") for node in result.graph.nodes] == ["sines", None, None, None, None]
