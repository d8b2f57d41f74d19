"""A module's call becomes its nodes, and computes what it did."""

import dataclasses

import pytest
import torch
from torch import fx, nn

from kit import marks
from pyharness.fx import provenance, tagged, tags_of, trace
from pyharness.fx.transforms import TransformError, inline
from pyharness.model.errors import UsageError


@dataclasses.dataclass
class Out:
    y: torch.Tensor
    parts: tuple


class Block(nn.Module):
    def __init__(self, returns="dict"):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.act = nn.ReLU()
        self.returns = returns
        self.register_buffer("shift", torch.arange(4.0))

    def forward(self, x, mask=None, *, scale=2.0):
        y = self.act(self.linear(x)) * scale + self.shift  # @line
        if mask is not None:
            y = y * mask
        if self.returns == "dict":
            return {"y": y, "parts": (x, [y])}
        return Out(y, (x, [y])) if self.returns == "dataclass" else (y, (x, [y]))


def y_of(result):
    return result["y"] if isinstance(result, fx.Proxy | dict) else result


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.inner = fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
        self.seq = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())

    def forward(self, x, mask):
        first = self.blocks[0](x)
        second = self.blocks[1](first["y"], mask, scale=3.0)
        both = self.blocks[0](second["y"], mask=mask)
        return self.inner(both["y"]) + second["parts"][1][0], self.seq(second["parts"][0]), both


@pytest.fixture
def net():
    torch.manual_seed(0)
    return Net()


@pytest.fixture
def inputs():
    return torch.randn(3, 4), torch.randn(3, 4)


def calls(module):
    return [node.target for node in module.graph.nodes if node.op == "call_module"]


@pytest.mark.parametrize(
    "where",
    [Block, "blocks.*", "blocks.1", ["inner", Block], ["seq", nn.Sigmoid], lambda _, path: path == "inner", "*"],
)
def test_results_stay_the_same(net, inputs, where):
    module = trace(net, leaves=[Block, "inner", "seq"])
    code = module.code
    result = inline(module, where)
    torch.testing.assert_close(result(*inputs), net(*inputs), rtol=0, atol=0)
    assert module.code == code
    assert len(calls(result)) != len(calls(module)) or calls(result) != calls(module)
    result.graph.lint()


def test_everything_down_to_functions(net, inputs):
    result = inline(trace(net, leaves=[Block, "inner", "seq"]), nn.Module)
    assert calls(result) == []
    assert {name for name, _ in result.named_parameters()} == {name for name, _ in net.named_parameters()}
    assert result.get_parameter("blocks.1.linear.weight") is net.blocks[1].linear.weight
    assert {name for name, _ in result.named_buffers()} == {"blocks.0.shift", "blocks.1.shift"}
    torch.testing.assert_close(result(*inputs), net(*inputs), rtol=0, atol=0)


def test_leaves_stay(net):
    module = trace(net, leaves=[Block, "inner", "seq"])
    assert set(calls(inline(module, nn.Module, leaves=nn.Linear))) == {
        "blocks.0.linear", "blocks.1.linear", "inner.0", "seq.0",
    }  # fmt: skip
    assert "blocks.1" in calls(inline(module, Block, leaves="blocks.1"))
    assert "blocks.0.act" in calls(inline(module, nn.Module, leaves="blocks.0.act"))


def test_provenance_is_that_of_the_module_and_its_line(net):
    with tagged(stage="all"):
        module = trace(net, leaves=[Block, "inner"])
    result = inline(module, [Block, "inner", nn.ReLU])
    first = {}
    for node in result.graph.nodes:
        first.setdefault(node.target, node)
    line = marks.line_of("line", __file__)
    for target, module_path in {
        "blocks.0.linear": "blocks.0.linear",
        torch.nn.functional.relu: "blocks.0.act",
        "blocks.0.shift": "blocks.0",
    }.items():
        assert provenance.of(first[target]) == (module_path, __file__, line)
        assert tags_of(first[target]) == {"transform": "inline"} | tags_of(first[target])
    assert provenance.of(first["inner.0"]).module == "inner.0"
    assert provenance.of(first["inner.0"]).line == Net.forward.__code__.co_firstlineno + 4
    assert all(tags_of(node).get("stage") == "all" for node in result.graph.nodes if node.op == "call_method")


@pytest.mark.parametrize("returns", ["dict", "tuple", "dataclass"])
def test_structures_that_are_returned_or_taken_apart(returns, inputs):
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block(returns)

        def forward(self, x, mask):
            result = self.block(x, mask)
            if returns == "dict":
                return result["y"] + result["parts"][0], result
            if returns == "tuple":
                return result[0] + result[1][1][0], result
            return result.y + result.parts[0], result.y

    outer = Outer()
    result = inline(trace(outer, leaves=Block), Block)
    torch.testing.assert_close(result(*inputs), outer(*inputs), rtol=0, atol=0)


class Shared(nn.Module):
    """One module twice, a constant, a default, arguments in a list, nothing of which is a node."""

    def __init__(self):
        super().__init__()
        self.piece = Piece()

    def forward(self, x):
        return self.piece([x, x + 1], 2) + self.piece([x * 3, x], factor=4) + self.piece([], 1)


class Piece(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4))
        self.constant = torch.full((4,), 0.5)

    def forward(self, values, factor=1):
        total = self.weight * factor + torch.tensor([1.0, 2.0, 3.0, 4.0])
        for value in values:
            total = total + value * self.constant
        return total


def test_shared_modules_constants_and_lists(inputs):
    net = Shared()
    result = inline(trace(net, leaves=Piece), Piece)
    assert calls(result) == []
    torch.testing.assert_close(result(inputs[0]), net(inputs[0]), rtol=0, atol=0)
    assert result.get_parameter("piece.weight") is net.piece.weight
    assert not hasattr(net, "_tensor_constant0")


def test_a_graph_module_with_defaults_keywords_and_nested_ones(inputs):
    class Leaf(nn.Module):
        def forward(self, x, by=2.0):
            return x * by

    class Middle(nn.Module):
        def __init__(self):
            super().__init__()
            self.leaf = trace(Leaf())
            self.linear = nn.Linear(4, 4)

        def forward(self, x, y=None, *, times=1.0):
            del y
            return self.leaf(self.linear(x), by=times), self.leaf(x)

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.middle = trace(Middle(), leaves="leaf")

        def forward(self, x):
            first, second = self.middle(times=3.0, x=x)[0], self.middle(x, None)[1]
            return first - second

    outer = Outer()
    module = trace(outer, leaves="middle")
    once = inline(module, "middle")
    assert set(calls(once)) == {"middle.linear", "middle.leaf"}
    assert set(calls(inline(module, fx.GraphModule))) == {"middle.linear"}
    for result in (once, inline(module, fx.GraphModule)):
        torch.testing.assert_close(result(inputs[0]), outer(inputs[0]), rtol=0, atol=0)


def test_an_exported_program_is_inlined(inputs):
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            program = torch.export.export(Block(), (inputs[0],), {"mask": inputs[1]})
            self.block = program.module(check_guards=False)

        def forward(self, x, mask):
            return self.block(x, mask=mask)["y"]

    outer = Outer()
    result = inline(trace(outer, leaves="block"), "block")
    assert calls(result) == []
    torch.testing.assert_close(result(*inputs), outer(*inputs), rtol=0, atol=0)


def test_gradients_reach_the_shared_parameters(net, inputs):
    result = inline(trace(net, leaves=Block), Block)
    result(*inputs)[0].sum().backward()
    assert net.blocks[0].linear.weight.grad is not None


def test_errors(net):
    module = trace(net, leaves=[Block, "inner"])
    with pytest.raises(UsageError, match=r"calls no module 'blocks.7'") as caught:
        inline(module, "blocks.7")
    assert "blocks.0" in str(caught.value)
    net.blocks[1].register_forward_hook(lambda *_: None)
    with pytest.raises(TransformError, match=r"blocks.1 \(node blocks_1\) has hooks"):
        inline(module, Block)
    with pytest.raises(UsageError, match=r"no module 'blocks.7'"):
        inline(module, Block, leaves="blocks.7")


def test_a_call_that_does_not_fit_is_an_error():
    module = trace(nn.Sequential(trace(nn.Linear(4, 4))), leaves="0")
    call = module.graph.find_nodes(op="call_module", target="0")[0]
    call.args = (*call.args, 3)
    with pytest.raises(TransformError, match="_0 does not call 0 as it is defined"):
        inline(module, "0")
