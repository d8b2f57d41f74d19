"""Inversion: every entry of the table in every form, random graphs both ways, and what cannot be inverted."""

import operator

import pytest
import torch
from random_inverses import RANGES, Builder
from torch import fx, nn
from torch._ops import OpOverloadPacket

from kit.paths import ROOT
from pyharness.fx import provenance, tags_of, trace
from pyharness.fx.transforms import INVERSES, NotInvertibleError, domains, inverse, invert
from pyharness.model.errors import UsageError

EXACT = {"rtol": 1e-5, "atol": 1e-5}
MORE_RANGES = {
    "arcsin": (-0.9, 0.9), "arccos": (-0.9, 0.9), "arcsinh": (-3, 3), "arccosh": (1.1, 4), "arctanh": (-0.9, 0.9),
    "expit": (-3, 3), "log_sigmoid": (-3, 3), "softsign": (-3, 3), "leaky_relu": (-3, 3),
    "elu": (-2, 2), "softplus": (-3, 3), "pos": (-3, 3),
}  # fmt: skip
BINARY = {"add", "sub", "subtract", "rsub", "mul", "multiply", "div", "divide", "true_divide", "truediv", "pow"}
BINARY |= {"iadd", "isub", "imul", "itruediv", "ipow"}


def plain(key):
    return (key if isinstance(key, str) else key.__name__).rstrip("_").removeprefix("special_")


def one_call(key, unknown):
    """A graph that calls ``key`` once, as a method or as a function; its other operand is a buffer."""
    graph, root = fx.Graph(), nn.Module()
    root.register_buffer("constant", torch.tensor(1.7, dtype=torch.float64))
    args = [graph.placeholder("x")]
    if plain(key) in BINARY:
        args.insert(1 - unknown, graph.get_attr("constant"))
    if isinstance(key, OpOverloadPacket):
        key = next(getattr(key, name) for name in ("Tensor", "Tensor_Tensor", "default") if name in key.overloads())
    call = graph.call_method if isinstance(key, str) else graph.call_function
    graph.output(call(key, tuple(args)))
    return fx.GraphModule(root, graph)


def exists(key, unknown):
    """A number has no methods; not every function has both."""
    return not isinstance(key, str) or (unknown == 0 and hasattr(torch.Tensor, key))


def test_every_entry_gives_its_operand_back_in_every_form():
    tried = set()
    for key, unknown in filter(lambda entry: exists(*entry), INVERSES):
        low, high = (RANGES | MORE_RANGES).get(plain(key), (0.2, 2))
        x = torch.linspace(low, high, 50, dtype=torch.float64)
        module = one_call(key, unknown)
        y = fx.Interpreter(module).run(x.clone())
        found = fx.Interpreter(invert(module)).run(y)
        torch.testing.assert_close(found, x, **EXACT, msg=lambda text, key=key: f"{key}: {text}")
        tried.add((plain(key), unknown))
    forms = {(plain(key), unknown) for key, unknown in INVERSES}
    assert forms - tried == set()
    assert len([1 for key, _ in INVERSES if isinstance(key, str)]) > 90


@pytest.mark.rotated
@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_round_trip(seed):
    builder = Builder(seed)
    module = builder.module(steps=2 + seed % 9)
    x = builder.points.clone().requires_grad_()
    inverted = invert(module)
    y = module(x)
    torch.testing.assert_close(inverted(y), x, **EXACT)
    torch.testing.assert_close(module(inverted(y.detach())), y, **EXACT)
    (gradient,) = torch.autograd.grad(inverted(y).sum(), x)
    torch.testing.assert_close(gradient, torch.ones_like(x), rtol=1e-3, atol=1e-3)


def test_the_inverse_of_the_inverse_computes_the_function():
    module = trace(lambda x: torch.exp(torch.sin(x) * 3 - 1).reciprocal())
    twice = invert(invert(module))
    x = torch.linspace(-1.5, 1.5, 20, dtype=torch.float64)
    torch.testing.assert_close(twice(x), module(x), **EXACT)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([2.0, -3.0], dtype=torch.float64))
        self.register_buffer("shift", torch.tensor([0.5, 1.0], dtype=torch.float64))
        self.act = nn.Sequential(nn.Tanh(), nn.LeakyReLU(0.2))

    def forward(self, x, temperature=1.0):
        return self.act((x * self.scale.exp() + self.shift) / temperature)


def test_parameters_are_shared_and_followed():
    flow = Flow()
    inverted = invert(trace(flow, concrete_args={"temperature": 1.0}), of="x")
    x = torch.randn(5, 2, dtype=torch.float64) / 10
    torch.testing.assert_close(inverted(flow(x), 1.0), x, **EXACT)
    with torch.no_grad():
        flow.scale.add_(0.3)
    torch.testing.assert_close(inverted(flow(x), 1.0), x, **EXACT)
    assert inverted.scale is flow.scale


def test_an_exported_program_is_inverted():
    flow = Flow()
    x = torch.randn(5, 2, dtype=torch.float64) / 10
    module = torch.export.export(flow, (x,)).module(check_guards=False)
    torch.testing.assert_close(invert(module)(flow(x)), x, **EXACT)


def test_other_inputs_stay_inputs():
    inverted = invert(trace(Flow()), of="x")
    assert [node.target for node in inverted.graph.find_nodes(op="placeholder")] == ["y", "temperature"]
    x = torch.randn(5, 2, dtype=torch.float64) / 10
    flow = Flow()
    torch.testing.assert_close(inverted(flow(x, 2.0), 2.0), x, **EXACT)
    times = invert(trace(Flow()), of="temperature")
    torch.testing.assert_close(times(flow(x, 2.0), x), torch.full_like(x, 2.0), **EXACT)


def test_nodes_say_what_they_undo_and_where_it_holds():
    inverted = invert(trace(Flow()), of="x")
    tags = {node.name: tags_of(node) for node in inverted.graph.nodes}
    assert tags["atanh"] == {"inverse_of": "tanh", "domain": "all x", "transform": "invert"}
    nodes = {node.name: node for node in inverted.graph.nodes}
    assert provenance.of(nodes["atanh"]).module == "act.0"
    assert provenance.of(nodes["atanh"]).line == Flow.forward.__code__.co_firstlineno + 1


def branches(x):
    return torch.sin(x) + torch.cos(x)


def in_place(x):
    y = x * 2
    y.add_(1)
    return y


@pytest.mark.parametrize(
    ("function", "node", "words"),
    [
        (lambda x: torch.abs(x) + 1, "abs_1", ("torch.abs", "nothing is known to undo it", "inverse")),
        (lambda x: x.relu().exp(), "relu", ("nothing is known",)),
        (lambda x: x.sum(), "sum_1", ("nothing is known",)),
        (branches, "add", ("two values that depend on x: sin and cos", f"{__file__}:")),
        (lambda x: x.exp() * x.exp(), "mul", ("exp and exp_1",)),
        (lambda x: x + x, "add", ("x and x",)),
        (lambda x: torch.cat([x, torch.ones(1)]), "cat", ("nothing is known",)),
        (lambda x: x * 0, "mul", ("constant is 0",)),
        (lambda x: 0 / x, "truediv", ("constant is 0",)),
        (lambda x: x**0, "pow_1", ("constant is 0",)),
        (lambda x: 1**x, "pow_1", ("base is 1",)),
        (lambda x: torch.div(x, 2, rounding_mode="floor"), "div", ("rounds (floor)",)),
        (lambda x: torch.sin(x, out=None), "sin", ("out",)),
        (lambda x: torch.logit(x, 0.1), "logit", ("clamps to eps",)),
        (lambda x: nn.functional.leaky_relu(x, -1.0), "leaky_relu", ("slope is -1.0",)),
        (lambda x: (x, x), "output", ("more than one value",)),
        (lambda _: torch.ones(2), "output", ("does not depend on",)),
        (in_place, "add_", ("changes mul in place",)),
    ],
)
def test_what_cannot_be_inverted_is_named(function, node, words):
    with pytest.raises(NotInvertibleError) as caught:
        invert(trace(function))
    assert caught.value.node == node
    text = str(caught.value)
    assert text.startswith(f"{node} (")
    assert all(word in text for word in words), text


class Noted(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.register_buffer("zero", torch.zeros(3))

    def forward(self, x):
        return self.inner(x)


def test_modules_that_cannot_be_inverted_are_named():
    with pytest.raises(NotInvertibleError, match=r"linear \(torch._C._nn.linear in inner at "):
        invert(trace(Noted(nn.Linear(3, 3))))
    with pytest.raises(NotInvertibleError, match=r"inner \(inner in inner at .* nor what it consists of"):
        invert(trace(Noted(nn.BatchNorm1d(3))))

    class Zeroed(Noted):
        def forward(self, x):
            return x * self.zero

    with pytest.raises(NotInvertibleError, match="its constant zero has a 0"):
        invert(trace(Zeroed(nn.ReLU())))


def test_which_input_must_be_said():
    module = trace(lambda x, other: x + other)
    with pytest.raises(UsageError, match="has 2 inputs") as caught:
        invert(module)
    assert "x, other" in str(caught.value)
    with pytest.raises(UsageError, match="no input 'othr'") as caught:
        invert(module, of="othr")
    assert "other" in str(caught.value)


# --- the open table ---------------------------------------------------------------------------------------------------


@pytest.fixture
def table():
    before = dict(INVERSES)
    yield
    INVERSES.clear()
    INVERSES.update(before)


class Rotate(nn.Module):
    def __init__(self):
        super().__init__()
        matrix, _ = torch.linalg.qr(torch.randn(3, 3, dtype=torch.float64))
        self.matrix = nn.Parameter(matrix)

    def forward(self, x):
        return torch.cumsum(x @ self.matrix, -1)


fx.wrap("mirrored")


def mirrored(x):
    return x.flip(-1)


@pytest.mark.usefixtures("table")
def test_functions_and_modules_can_be_added():
    @inverse(Rotate, domain="all x")
    def undo(y, module):
        first, rest = y[..., :1], y[..., 1:] - y[..., :-1]
        return torch.cat([first, rest], -1) @ module.matrix.T

    inverse(mirrored, domain="all x")(mirrored)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.turn = Rotate()

        def forward(self, x):
            return mirrored(self.turn(torch.exp(x)))

    model = Model()
    x = torch.randn(4, 3, dtype=torch.float64)
    inverted = invert(trace(model, leaves=Rotate))
    torch.testing.assert_close(inverted(model(x)), x, **EXACT)
    assert inverted.get_parameter("turn.matrix") is model.turn.matrix


@pytest.mark.usefixtures("table")
def test_a_second_entry_fails():
    with pytest.raises(ValueError, match="two inverses of 'sin', operand 0"):
        inverse("sin", domain="all x")(lambda y: y)
    with pytest.raises(ValueError, match="operand 1"):
        inverse(operator.add, unknown=1, domain="all x")(lambda y, other: y - other)
    with pytest.raises(UsageError, match="3 is not a function"):
        inverse(3, domain="all x")(lambda y: y)


def test_domains_are_listed():
    listed = domains()
    assert ("sin", 0, "-pi/2 <= x <= pi/2") in listed
    assert ("log", 0, "x > 0") in listed
    assert all(domain for _, _, domain in listed)
    assert listed == sorted(listed)


def test_domains_are_documented():
    page = (ROOT / "docs" / "fx.md").read_text()
    for name, unknown, domain in domains():
        row = next(line for line in page.splitlines() if line.endswith(f"| {domain} |"))
        assert f"`{name}`" + (" (second operand)" if unknown else "") in row
