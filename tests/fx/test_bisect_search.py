"""Which pass is named: hidden and unsteady faults, passes that raise, checks of all kinds, and what is refused."""

import functools

import pytest
import torch
from torch import fx, nn
from torch.fx.passes.infra.pass_base import PassBase, PassResult
from torch.fx.passes.infra.pass_manager import PassManager

from pyharness.fx import BisectError, bisect
from pyharness.fx.bisecting.passes import passes_of
from pyharness.model.errors import UsageError

pytestmark = pytest.mark.rotated_tests(turns=5)


X = torch.linspace(-1, 1, 32).reshape(4, 8)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, *, scale=1.0):
        return torch.softmax((torch.relu(self.fc(x)) - x) * scale, dim=-1)


def nothing(gm):
    return gm


def swap(graph):
    [node] = [node for node in graph.nodes if node.name == "sub"]
    node.args = node.args[::-1]


def double(gm: fx.GraphModule):
    gm.fc.weight.data.mul_(2)
    return True


def explode(graph: fx.Graph) -> fx.Graph:
    del graph
    raise KeyError("no such node")


def erase_relu(graph):
    """It leaves a graph that does not lint: a node takes one that is gone."""
    [node] = [node for node in graph.nodes if node.name == "relu"]
    graph._root.prev.args[0].update_arg(0, node)
    node._remove_from_list()


class Swap(PassBase):
    def call(self, graph_module):
        swap(graph_module.graph)
        return PassResult(graph_module, modified=True)


@pytest.fixture
def net():
    torch.manual_seed(0)
    return Net().eval()


def search(net, passes, **options):
    options = {"inputs": (X,), "script": False, "shrink": False} | options
    return bisect(net, passes, options.pop("inputs"), **options)


@pytest.mark.rotated
@pytest.mark.parametrize("total", [1, 2, 3, 17, 32])
def test_any_place_in_lists_of_any_length(net, total):
    for place in {0, total // 3, total - 1}:
        passes = [nothing] * total
        passes[place] = swap
        bad = search(net, passes, sweep=False)
        assert (bad.name, bad.index, bad.total) == ("swap", place, total)
        assert bad.runs <= total.bit_length() + 4
        assert bad.hidden_by is None


@pytest.mark.parametrize("bad_pass", [swap, Swap(), functools.partial(swap), double, erase_relu, explode])
def test_passes_of_every_form(net, bad_pass):
    bad = search(net, [nothing, nothing, bad_pass, nothing, nothing])
    assert bad.index == 2
    assert bad.raised == (bad_pass is explode)


def test_a_pass_that_raises_is_named_with_what_it_raised(net):
    bad = search(net, {"first": nothing, "second": explode, "third": swap})
    assert (bad.name, bad.reason) == ("second", "KeyError: 'no such node'")
    assert bad.raised


def test_a_fault_that_a_later_pass_hides(net):
    passes = {"a": nothing, "breaks": swap, "b": nothing, "repairs": swap, "c": nothing}
    bad = search(net, passes)
    assert (bad.name, bad.index, bad.hidden_by) == ("breaks", 1, "repairs")
    assert "  hidden     the module is good again after repairs" in str(bad).split("\n")


def test_the_earlier_of_two_faults_with_a_repair_between(net):
    passes = {"one": swap, "repairs": swap, "a": nothing, "b": nothing, "two": double}
    assert search(net, passes, sweep=False).name == "two"
    bad = search(net, passes)
    assert (bad.name, bad.hidden_by) == ("one", "repairs")


def test_equal_names_are_told_apart(net):
    bad = search(net, [swap, swap, swap], sweep=False)
    assert bad.name in {"swap", "swap#3"}
    assert [each.name for each in passes_of([swap, swap, nothing])] == ["swap", "swap#2", "nothing"]


def test_a_pass_manager_of_torch(net):
    manager = PassManager([nothing, Swap(), nothing])
    bad = search(net, manager)
    assert (bad.name, bad.index) == ("Swap", 1)


@pytest.mark.parametrize(
    "check",
    [
        lambda after: bool(after(X).sum(-1).allclose(torch.ones(4))) and "x - relu" not in after.code,
        lambda before, after, inputs: torch.equal(before(*inputs), after(*inputs)),
        lambda before, after, inputs: torch.testing.assert_close(before(*inputs), after(*inputs)),
    ],
)
def test_checks_of_every_form(net, check):
    assert search(net, [nothing, swap, nothing], check=check).name == "swap"


def test_keyword_arguments_and_defaults(net):
    bad = search(net, [nothing, swap], inputs=(X,), kwargs={"scale": 2.0}, shrink=True)
    assert bad.name == "swap"
    assert bad.shrunk.calls == 1
    assert [tuple(value.shape) for value in bad.inputs] == [(1, 1), (1, 1)]


def test_values_that_nobody_uses():
    """Shrinking drops them where it cuts the end off, and may have been about to cut there next."""

    def many_unused(x):
        a = torch.relu(x)
        torch.sin(a)
        b = a * 3
        torch.cos(b)
        c = torch.tanh(b) - a
        d = c * 5
        return (d + 1) * 2

    bad = search(fx.symbolic_trace(many_unused), [nothing, explode], shrink=True)
    assert bad.index == 1
    assert bad.shrunk.calls == 0


def test_the_module_and_its_inputs_are_left_alone(net):
    weight, seen, state = net.fc.weight.detach().clone(), X.clone(), torch.get_rng_state()
    search(net, [nothing, double, swap], shrink=True)
    assert torch.equal(net.fc.weight, weight)
    assert torch.equal(seen, X)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_check_that_fails_before_any_pass(net):
    with pytest.raises(BisectError, match="fails before any pass has run: the check says no"):
        search(net, [nothing, swap], check=lambda _: False)


def test_nothing_to_find(net):
    with pytest.raises(BisectError, match="good after all 3 passes, and after each"):
        search(net, [nothing] * 3)


def test_a_check_that_changes_its_mind(net):
    answers = iter([True, False, True, True, True, True, True, True, True, True])
    with pytest.raises(BisectError, match="not deterministic"):
        search(net, [nothing] * 4, check=lambda _: next(answers))


def test_a_random_check_gets_the_same_numbers_each_time(net):
    def check(after):
        return float(torch.rand(())) < 2 and "x - relu" not in after.code

    seen = []
    search(net, [nothing, swap], check=lambda after: seen.append(float(torch.rand(()))) or check(after))
    assert len(seen) > 3
    assert len(set(seen)) == 1


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        ([], "no passes"),
        ("swap", "is not a list of passes"),
        ([3], "is a int, which cannot be called"),
        ([lambda: None], "takes no argument"),
    ],
)
def test_what_is_no_list_of_passes(net, passes, message):
    with pytest.raises(UsageError, match=message):
        search(net, passes)


def test_what_is_no_result_and_no_answer(net):
    with pytest.raises(BisectError, match="got a Graph, for the name or the type of its parameter"):
        search(net, [lambda g: g.graph])
    with pytest.raises(BisectError, match="returned a str"):
        search(net, [lambda _: "done"])
    with pytest.raises(BisectError, match="neither true nor false"):
        search(net, [swap], check=lambda _: torch.ones(2))


def test_inputs_that_the_module_does_not_take(net):
    with pytest.raises(UsageError, match="does not take these inputs"):
        search(net, [swap], inputs=(X, 1.0, 2, 3, 4))
    with pytest.raises(UsageError, match="cannot be called with these inputs"):
        search(net, [swap], inputs=("text",))
