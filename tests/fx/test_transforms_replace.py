"""A pattern is found however it is written, and what stands for it computes the same."""

import operator
import random

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own name for it)
from torch import fx, nn

import pyharness.ops as _loaded  # noqa: F401  (registers the ops)
from pyharness.fx import provenance, tags_of, trace
from pyharness.fx.transforms import replace
from pyharness.model.errors import UsageError

ATEN_RELU = torch.ops.aten.relu
RMS_NORM = torch.ops.pyharness.rms_norm.default


def targets(module):
    return [node.target for node in module.graph.nodes if node.op not in {"placeholder", "output", "get_attr"}]


class Relus(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
        self.loud = nn.ReLU(inplace=True)

    def forward(self, x):
        a = torch.relu(x) + x.relu() + F.relu(x) + self.act(x)
        return a * self.loud(x * 1) + torch.ops.aten.relu.default(x)


@pytest.mark.parametrize(
    "pattern",
    [
        torch.relu,
        F.relu,
        lambda x: x.relu(),
        nn.Sequential(nn.ReLU()),
        ATEN_RELU.default,
        ATEN_RELU,
    ],
)
def test_every_form_of_a_call_is_the_same(pattern):
    module = trace(Relus())
    result = replace(module, pattern, torch.tanh)
    assert targets(result).count(torch.tanh) == 5
    assert [target for target in targets(result) if isinstance(target, str)] == ["loud"], "in place is not the same"


def test_one_op_for_another():
    module = trace(lambda x: torch.add(x, 1) * x.add(x) + torch.add(input=x, other=2))
    assert targets(replace(module, torch.add, torch.sub)) == [torch.sub, torch.sub, operator.mul, torch.sub, torch.sub]


class Norm(nn.Module):
    def __init__(self, form=0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8))
        self.form = form

    def forward(self, x):
        if self.form == 0:
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
        if self.form == 1:
            return self.weight * (torch.rsqrt(1e-6 + torch.mean(x**2, dim=-1, keepdim=True)) * x)
        mean = torch.pow(x, 2).mean([-1], True)  # noqa: FBT003  (a form like any other)
        return torch.mul(torch.mul(torch.rsqrt(torch.add(mean, 1e-6)), x), self.weight)


def norm(x, weight, eps):
    return x * torch.rsqrt((x**2).mean(-1, keepdim=True) + eps) * weight


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(Norm(form), nn.Linear(8, 8)) for form in range(3)])

    def forward(self, x):
        for block in self.blocks:
            x = x + block(x)
        return x


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Model()


def test_our_op_takes_the_place_of_what_it_computes(model):
    result = replace(trace(model), norm, RMS_NORM)
    made = [node for node in result.graph.nodes if node.target is RMS_NORM]
    assert [provenance.of(node).module for node in made] == ["blocks.0.0", "blocks.1.0", "blocks.2.0"]
    assert [node.args[2] for node in made] == [1e-6] * 3
    assert tags_of(made[0])["replaced"] == "pow_1, mean, add, rsqrt, mul, mul_1"
    assert len(targets(result)) == 3 * 3
    x = torch.randn(4, 8)
    torch.testing.assert_close(result(x), model(x))
    result(x).sum().backward()
    assert model.blocks[2][0].weight.grad is not None


def test_where_limits_it(model):
    module = trace(model)
    assert targets(replace(module, norm, RMS_NORM, where="blocks.1.*")).count(RMS_NORM) == 1
    first = module.graph.find_nodes(op="placeholder")[0].name
    only = replace(module, norm, RMS_NORM, where=lambda inputs: inputs["x"].name == first)
    assert targets(only).count(RMS_NORM) == 1
    with pytest.raises(UsageError, match="nowhere that `where` selects"):
        replace(module, norm, RMS_NORM, where="head.*")


def test_a_function_and_a_module_in_its_place(model):
    class Mine(nn.Module):
        def __init__(self):
            super().__init__()
            self.gain = nn.Parameter(torch.ones(()))

        def forward(self, x, weight, eps):
            return norm(x, weight, eps) * self.gain

    x = torch.randn(4, 8)
    module = trace(model)
    for by in (lambda x, w, eps: F.rms_norm(x, (8,), w, eps), lambda x, w, eps: norm(x, w, eps) + 0 * x, Mine()):
        torch.testing.assert_close(replace(module, norm, by)(x), model(x))
    mine = replace(module, norm, Mine())
    assert [name for name, _ in mine.named_parameters() if "gain" in name] == ["mine.gain"]
    assert targets(mine).count("mine") == 3


def test_matches_that_follow_one_another():
    module = trace(lambda x: x.sin().sin().sin())
    result = replace(module, torch.sin, torch.cos)
    x = torch.randn(3)
    torch.testing.assert_close(result(x), x.cos().cos().cos())
    pairs = replace(module, lambda x: x.sin().sin(), lambda x: x * 2)
    assert targets(pairs) == [operator.mul, "sin"], "of two that overlap, the first counts"


def test_modules_match_by_class():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3), nn.ReLU())
    result = replace(trace(net), nn.Sequential(nn.Linear(1, 1), nn.ReLU()), lambda x: x * 0)
    assert targets(result) == [operator.mul, operator.mul]


def test_several_results_of_which_one_is_used_early():
    def model(x):
        a = x + 1
        early = torch.exp(a)
        b = a * 2
        return early + torch.sin(b)

    module = trace(model)
    result = replace(module, lambda x: ((y := x + 1), y * 2), lambda x: (x - -1, (x - -1) * 2))
    x = torch.randn(3)
    torch.testing.assert_close(result(x), model(x))
    assert operator.sub in targets(result)


def test_two_inputs_may_be_one_value_but_none_from_inside():
    x = torch.randn(3)
    result = replace(trace(lambda x: x.sin() * x), lambda a, b: a.sin() * b, lambda a, b: a.cos() - b)
    torch.testing.assert_close(result(x), x.cos() - x)
    with pytest.raises(UsageError, match="nowhere"):
        replace(trace(lambda x: (s := x.sin()) * s), lambda a, b: a.sin() * b, lambda a, b: a.cos() - b)


def test_the_order_of_operands_counts_after_the_first_sums_and_products():
    def sevenfold(x, y, swapped):
        for index, each in enumerate((torch.sin, torch.cos, torch.tan, torch.exp, torch.log, torch.erf, torch.abs)):
            x = torch.add(each(y), x) if index in swapped else torch.add(x, each(y))
        return x

    def pattern(x, y):
        return sevenfold(x, y, ())

    early, late = trace(lambda x, y: sevenfold(x, y, (0, 5))), trace(lambda x, y: sevenfold(x, y, (6,)))
    assert targets(replace(early, pattern, torch.sub)) == [torch.sub]
    with pytest.raises(UsageError, match="Operands of add_6, after the first 6, must be in the graph's order"):
        replace(late, pattern, torch.sub)


def test_a_value_that_others_read_is_no_match():
    def model(x):
        square = x * x
        return square.sum() + square.exp()

    with pytest.raises(UsageError) as caught:
        replace(trace(model), lambda x: (x * x).exp(), torch.cos)
    assert "used elsewhere" in str(caught.value)


def test_a_value_that_changes_midway_is_no_match():
    def model(x):
        y = x.sin()
        x.add_(1)
        return y + x

    with pytest.raises(UsageError, match="nowhere"):
        replace(trace(model), lambda x: x.sin() + x, torch.cos)

    def fine(x):
        x.add_(1)
        return x.sin() + x

    assert torch.cos in targets(replace(trace(fine), lambda x: x.sin() + x, torch.cos))


@pytest.mark.parametrize(
    ("model", "pattern"),
    [
        (lambda x: torch.softmax(x, dim=1), lambda x: x.softmax(-1)),
        (lambda x: x.sub(1), lambda x: 1 - x),
        (lambda x: x - 1, lambda x: x - 2),
        (lambda x: torch.add(x, x.sin(), alpha=2), lambda x: x + x.sin()),
        (lambda x: x.sum(0), lambda x: x.sum()),
        (lambda x: x.mean(-1), lambda x: x.mean(-1, keepdim=True)),
    ],
)
def test_what_is_not_the_same_does_not_match(model, pattern):
    with pytest.raises(UsageError, match="nowhere"):
        replace(trace(model), pattern, torch.cos)


def test_errors(model):
    module = trace(model)
    with pytest.raises(UsageError, match=r"the graph has no torch.sinh, torch.cosh"):
        replace(module, lambda x: torch.sinh(x) + torch.cosh(x), torch.exp)
    with pytest.raises(UsageError, match="does not use y"):
        replace(module, lambda x, y: x + 1, torch.exp)  # noqa: ARG005
    with pytest.raises(UsageError, match="computes nothing"):
        replace(module, lambda x: x, torch.exp)
    with pytest.raises(UsageError, match="3 computes nothing"):
        replace(module, 3, torch.exp)
    with pytest.raises(UsageError, match="has 3 inputs and the replacement 1"):
        replace(module, norm, lambda x: x.exp())
    with pytest.raises(UsageError, match="returns 1 values and the replacement 2"):
        replace(module, norm, lambda x, w, eps: (x, w + eps))
    with pytest.raises(UsageError, match="state of its own") as caught:
        replace(module, norm, lambda x, w, eps: x * w * eps + torch.ones(8))
    assert "submodule" in str(caught.value)


# --- random graphs ----------------------------------------------------------------------------------------------------


def random_graph(seed):
    """Sums, products, means and activations in many forms, some in place, of which up to three are returned."""
    draw = random.Random(seed)  # noqa: S311  (tests repeat)
    graph, root = fx.Graph(), nn.Module()
    root.act, root.weight = nn.ReLU(), nn.Parameter(torch.randn(4))
    values = [graph.placeholder("x"), graph.placeholder("y"), graph.get_attr("weight")]
    makers = [
        lambda a, b: graph.call_function(operator.add, (a, b)),
        lambda a, b: graph.call_function(torch.add, (), {"input": a, "other": b}),
        lambda a, b: graph.call_method("mul", (a, b)),
        lambda a, _: graph.call_function(operator.mul, (0.5, a)),
        lambda a, _: graph.call_function(torch.relu, (a,)),
        lambda a, _: graph.call_module("act", (a,)),
        lambda a, _: graph.call_function(F.relu, (a,), {"inplace": False}),
        lambda a, b: graph.call_function(torch.sub, (a, b), {"alpha": draw.choice([1, 2])}),
        lambda a, _: graph.call_function(operator.sub, (a, 1)),
        lambda a, _: graph.call_method("tanh", (a,)),
        lambda a, _: graph.call_method("mul_", (graph.call_method("clone", (a,)), 0.5)),
        lambda a, _: graph.call_method("add_", (a, 1)) if a not in values[:3] else graph.call_method("abs", (a,)),
        lambda a, _: graph.call_function(torch.softmax, (a,), {"dim": -1}),
        lambda a, _: graph.call_method("softmax", (a, -1)),
        lambda a, b: graph.call_function(operator.add, (a, graph.call_method("mul", (b, a)))),
        lambda a, b: graph.call_method("tanh", (graph.call_method("add", (a, b)),)),
    ]
    for _ in range(draw.randint(5, 25)):
        values.append(draw.choice(makers)(draw.choice(values[-4:]), draw.choice(values[-4:])))
    unused = tuple(value for value in values if not value.users)
    graph.output(unused[-3:] if draw.random() < 0.5 else values[-1])
    return fx.GraphModule(root, graph)


REWRITES = [
    (torch.relu, lambda x: torch.where(x > 0, x, torch.zeros_like(x))),
    (torch.softmax, lambda x, dim: (e := torch.exp(x - x.amax(dim, True))) / e.sum(dim, True)),  # noqa: FBT003
    (lambda a, b, c: a * b + c, lambda a, b, c: torch.add(c, torch.mul(b, a))),
    (lambda a, b: torch.relu(a + b), lambda a, b: torch.clamp_min(b + a, 0)),
    (lambda a, b: a - b, lambda a, b: -(b - a)),
    (lambda a, b: ((total := a + b), total.tanh()), lambda a, b: ((total := b + a), torch.tanh(total))),
    (lambda x: (x.relu(), x.tanh()), lambda x: (torch.clamp_min(x, 0), torch.tanh(x))),
]


@pytest.mark.rotated
@pytest.mark.parametrize("rewrite", range(len(REWRITES)))
def test_results_stay_the_same_on_random_graphs(rewrite):
    torch.manual_seed(0)
    replaced = 0
    for seed in range(24):
        module = random_graph(seed)
        x, y = torch.randn(3, 4), torch.randn(3, 4)
        try:
            result = replace(module, *REWRITES[rewrite])
        except UsageError:
            continue
        replaced += 1
        expected = fx.Interpreter(module).run(x.clone(), y.clone())
        found = fx.Interpreter(result).run(x.clone(), y.clone())
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    assert replaced


def test_a_result_that_is_like_no_node_matches_nothing():
    with pytest.raises(UsageError, match=r"the graph has no torch.tanh"):
        replace(trace(lambda x: x.relu()), lambda x: (x.relu(), x.tanh()), lambda x: (x, x))
