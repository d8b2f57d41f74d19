"""What is compared, what counts as equal, and that everything is put back."""

import copy
import math
import random
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

import pytest
import torch
from torch import fx, nn
from torch.nn import functional

from pyharness.fx import materialize, verify, verify_compiled
from pyharness.model.errors import UsageError
from pyharness.model.results.verdict import DifferenceError


class Pair(NamedTuple):
    one: torch.Tensor
    two: torch.Tensor


@dataclass
class Given:
    logits: torch.Tensor
    loss: float | None = None


class ModelOutput(OrderedDict):
    """As the model classes of some libraries return."""


def returning(function):
    return verify(lambda x: function(x, x * 2), lambda x: function(x, x * 2 + 1), torch.ones(2, 3))


@pytest.mark.parametrize(
    ("function", "path"),
    [
        (lambda x, y: (x, [y]), "[1][0]"),
        (lambda x, y: {"a": {"b": (x, y)}}, "['a']['b'][1]"),
        (Pair, "[1]"),
        (lambda _x, y: (None, True, 3, "text", y), "[4]"),
        (lambda x, y: (x, y.sum()), "[1]"),
    ],
)
def test_nested_results(function, path):
    verdict = returning(function)
    assert not verdict.ok
    assert [each.path for each in verdict.outputs] == [path]
    assert verdict.first.node == "add"


@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        (lambda x: Given(x, 1.0), lambda x: Given(x, 1.1), ".loss"),
        (Given, lambda x: Given(x + 1), ".logits"),
        (lambda x: ModelOutput(a=x, b=2), lambda x: ModelOutput(a=x, b=3), "['b']"),
        (lambda x: (x, 1e-9), lambda x: (x, 1.5e-9), None),
        (lambda x: x.sum().item(), lambda x: x.sum().item() + 1, ""),
        (lambda x: [x, None], lambda x: [x], ""),
        (lambda x: {"a": x}, lambda x: {"b": x}, ""),
        (lambda x: x.to(torch.complex64), lambda x: x * (1 + 1e-3j), ""),
        (lambda x: x.to_sparse(), lambda x: x.to_sparse(), None),
        (lambda x: x.to_sparse(), lambda x: x, ""),
        (lambda x: x / 0 * 0, lambda x: x / 0 * 0, None),
        (lambda x: x.long() + 2**62, lambda x: x.long() + 2**62 + 1, ""),
        (lambda x: x.to(torch.float8_e4m3fn), lambda x: (x * 2).to(torch.float8_e4m3fn), ""),
    ],
)
def test_all_kinds_of_values(one, other, path):
    verdict = verify(one, other, torch.ones(2, 3))
    assert [each.path for each in verdict.outputs] == ([] if path is None else [path])


@pytest.mark.parametrize(
    ("dtype", "near", "far"),
    [
        (torch.float64, 1e-9, 1e-6),
        (torch.float32, 1e-7, 1e-4),
        (torch.bfloat16, 1e-2, 5e-2),
        (torch.float16, 5e-4, 1e-2),
    ],
)
def test_tolerances_are_those_of_the_dtype(dtype, near, far):
    x = torch.full((3,), 1.0, dtype=torch.float64)
    for error, same in ((near, True), (far, False)):
        assert verify(lambda x: x.to(dtype), lambda x, e=error: (x + e).to(dtype), x).ok is same
    assert verify(lambda x: x.to(dtype), lambda x: (x + far).to(dtype), x, rtol=0.1).ok


def test_dtypes_and_nan_can_be_ignored():
    x = torch.tensor([1.0, float("nan")])
    assert not verify(lambda x: x, lambda x: x.double(), x).ok
    assert verify(lambda x: x, lambda x: x.double(), x, check_dtype=False).ok
    assert not verify(lambda x: x, lambda x: x + 0, x, equal_nan=False).ok


def test_arguments_of_every_kind():
    def function(x, *rest, scale=1.0, **named):
        return x * scale + rest[0]["a"] + named["more"][0]

    args = (torch.ones(2), {"a": torch.ones(2)})
    named = {"scale": 3.0, "more": [torch.ones(2)]}
    assert verify(function, function, args, named).ok
    verdict = verify(
        function, lambda x, *rest, scale=1.0, **named: function(x, *rest, scale=scale + 1, **named), args, named
    )
    assert not verdict.ok


def test_inputs_that_share_memory_still_do():
    base = torch.arange(6.0)

    def function(x, y):
        x.add_(1)
        return y * 2

    verdict = verify(function, function, (base[:3], base[1:4]))
    assert verdict.ok
    assert not verify(function, lambda _x, y: y * 2, (base[:3], base[1:4])).ok
    assert torch.equal(base, torch.arange(6.0))


class Changing(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.5)
        self.register_buffer("seen", torch.zeros(1))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        self.seen += 1
        return self.drop(self.norm(x))


def test_everything_is_put_back():
    model = Changing()
    model.drop.eval()
    before = copy.deepcopy(model.state_dict())
    versions = {name: tensor._version for name, tensor in model.state_dict(keep_vars=True).items()}
    torch.manual_seed(7)
    random.seed(7)
    wanted = torch.rand(3), random.random()  # noqa: S311
    torch.manual_seed(7)
    random.seed(7)
    x = torch.ones(4, 3).cumsum(0).requires_grad_()
    assert verify(model, copy.deepcopy(model), x, training=True).ok
    assert (model.calls, model.training, model.drop.training) == (0, True, False)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert versions["norm.weight"] == model.norm.weight._version
    assert (torch.equal(torch.rand(3), wanted[0]), random.random()) == (True, wanted[1])  # noqa: S311
    assert x.grad is None


def test_a_buffer_that_is_not_updated_is_a_difference():
    class Frozen(Changing):
        def forward(self, x):
            self.calls += 1
            return self.drop(self.norm(x))

    torch.manual_seed(0)
    model = Changing().eval()
    other = Frozen().eval()
    verdict = verify(model, other, torch.rand(4, 3))
    assert [(each.path, each.symptom) for each in verdict.outputs] == [("seen", "state")]


def test_random_numbers_drawn_in_another_order_are_no_difference():
    def original(x, y):
        a = functional.dropout(x, 0.5)
        b = functional.dropout(y, 0.3)
        return a + 1, b * 2

    def transformed(x, y):
        b = functional.dropout(y, 0.3)
        a = functional.dropout(x, 0.5)
        return a + 1, b * 2

    args = torch.ones(4, 4), torch.ones(4, 4)
    for locate in (True, False):
        verdict = verify(original, transformed, args, locate=locate)
        assert verdict.ok
        assert "another order" in verdict.notes[0]
    assert verify(original, lambda x, y: transformed(x, y + 1), args).first.node == "add"


def test_nor_are_statistics_of_what_is_random():
    norms = {name: nn.BatchNorm1d(3) for name in ("one", "two")}

    class Model(nn.Module):
        def __init__(self, *order):
            super().__init__()
            self.norms = nn.ModuleDict(norms)
            self.order = order

        def forward(self, x):
            found = {name: self.norms[name](functional.dropout(x, 0.5)) for name in self.order}
            return found["one"], found["two"] * 2

    verdict = verify(Model("one", "two"), Model("two", "one"), torch.randn(6, 3))
    assert verdict.ok
    assert verdict.notes


def test_a_graph_that_was_not_recompiled_is_noted():
    module = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    before = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    next(node for node in module.graph.nodes if node.target is torch.relu).target = torch.tanh
    verdict = verify(before, module, torch.ones(2))
    assert verdict.ok
    assert "without recompile()" in verdict.notes[0]


def test_a_module_that_cannot_be_traced():
    def original(x):
        return torch.relu(x) * 2 if x.sum() > 0 else x

    args = torch.tensor([3.0, -1.0])
    assert verify(original, lambda x: torch.relu(x) * 2, args).ok
    first = verify(original, lambda x: torch.tanh(x) * 2, args).first
    assert (first.node, first.counterpart) == ("tanh", "relu")


def test_what_a_trace_has_fixed_is_noted():
    class Counting(nn.Module):
        factor = 2

        def forward(self, x):
            return x * self.factor

    model = Counting()
    module = fx.symbolic_trace(model)
    model.factor = 3
    verdict = verify(model, module, torch.ones(2))
    assert verdict.first.reason == "argument 2 is 2, in the original 3"


def test_the_generated_line_is_that_of_the_users_own_file(tmp_path):
    module = fx.symbolic_trace(lambda x: torch.tanh(x) + 1)
    made = materialize(module, tmp_path)
    first = verify(lambda x: torch.sin(x) + 1, module, torch.ones(2)).first
    assert first.file == str(made.file)
    assert made.file.read_text().split("\n")[first.line - 1].strip().startswith("tanh = torch.tanh(x)")


def test_the_users_module_is_left_as_it_is():
    module = fx.symbolic_trace(lambda x: torch.tanh(x) + 1)
    forward, graph = type(module).forward, module.graph
    first = verify(lambda x: torch.sin(x) + 1, module, torch.ones(2)).first
    assert first.file
    assert (type(module).forward, module.graph) == (forward, graph)


def test_check_raises_and_an_assert_says_something():
    verdict = verify(torch.sin, lambda x: torch.cos(x), torch.ones(2))  # noqa: PLW0108  (the function is traced)
    with pytest.raises(DifferenceError, match="node cos") as caught:
        verdict.check()
    assert caught.value.verdict is verdict
    assert isinstance(caught.value, AssertionError)
    assert repr(verdict).startswith("<Verdict: first difference at node cos (")
    assert verify(torch.sin, torch.sin, torch.ones(2)).check().ok


@pytest.mark.parametrize(
    ("original", "inputs", "message"),
    [
        (nn.Linear(2, 2), (torch.ones(3),), "cannot be called with these inputs"),
        (nn.Linear(2, 2), (), "missing 1 required positional argument"),
        (nn.LazyLinear(2), (torch.ones(3),), "lazy"),
        (3, (), "not int"),
    ],
)
def test_errors(original, inputs, message):
    with pytest.raises(UsageError, match=message):
        verify(original, nn.Linear(2, 2), inputs)


@pytest.mark.parametrize(
    "option",
    [
        {"rtol": math.nan},
        {"rtol": -1},
        {"rtol": math.inf},
        {"atol": math.inf},
        {"atol": "x"},
        {"atol": True},
        {"seed": 1 << 64},
        {"seed": 1.5},
        {"seed": 10**5000},
    ],
    ids=lambda option: next(iter(option)),
)
@pytest.mark.parametrize("check", [verify, verify_compiled])
def test_a_number_that_cannot_be_meant_is_refused(check, option):
    compared = (torch.sin, torch.sin) if check is verify else (torch.sin,)
    with pytest.raises(UsageError, match=f"{next(iter(option))} cannot be"):
        check(*compared, torch.ones(2), **option)


@pytest.mark.parametrize("seed", [-1 << 63, (1 << 64) - 1])
def test_any_seed_of_torch_is_one(seed):
    assert verify(torch.sin, torch.sin, torch.ones(2), seed=seed, rtol=1e300, atol=0).ok
