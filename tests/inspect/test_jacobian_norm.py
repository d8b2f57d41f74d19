"""jacobian_norm agrees with the whole Jacobian, whatever function and arguments it is of."""

import json
import math

import pytest
import torch
from jacobians import seeded, truth
from torch import nn
from torch.func import jacrev

from pyharness import ops
from pyharness.inspect import capture, jacobian_norm
from pyharness.model.errors import HarnessError, UsageError


class NoBatching(torch.autograd.Function):
    """Its backward looks at a number, which no batch of gradients has."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 2 * x * gradient if gradient.abs().sum().item() >= 0 else gradient


LAYERS = {
    "linear": lambda: nn.Linear(8, 5),
    "gelu": lambda: nn.Sequential(nn.Linear(8, 8), nn.GELU()),
    "layer norm": lambda: nn.LayerNorm(8),
    "batch norm": lambda: nn.Sequential(nn.Flatten(0, 1), nn.BatchNorm1d(8)),
    "attention": lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
    "convolution": lambda: nn.Sequential(nn.Unflatten(1, (1, 6)), nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2)),
    "lstm": lambda: nn.LSTM(8, 4, batch_first=True),
    "view": nn.Flatten,
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("memory", [None, 10_000])
def test_exact_is_the_whole_jacobian_for_every_layer(name, memory):
    torch.manual_seed(0)
    layer = LAYERS[name]().double()
    x = torch.randn(2, 6, 8, dtype=torch.float64, requires_grad=True)
    y = layer(x)
    rows = [
        torch.autograd.grad(each, x, retain_graph=True, allow_unused=True)[0]
        for part in (y if isinstance(y, tuple) else (y,))
        for each in _flat(part)
    ]
    found = jacobian_norm(layer, x, memory=memory)
    assert float(found) == pytest.approx(sum(row.square().sum().item() for row in rows), rel=1e-9)
    assert (found.outputs, found.inputs, found.exact) == (len(rows), 96, True)
    assert not any("one by one: batched, they fail" in note for note in found.notes)


def _flat(value):
    if isinstance(value, tuple):
        return [each for part in value for each in _flat(part)]
    return value.reshape(-1).unbind()


def test_samples_that_do_not_influence_one_another(mlp, x):
    found = jacobian_norm(mlp, x, per_sample=True)
    expected = torch.stack([jacrev(mlp)(each).square().sum() for each in x]).detach()
    assert torch.allclose(found.per_sample, expected)
    assert float(found) == pytest.approx(truth(mlp, x))
    assert found.vjps == 10, "a row of each sample at once"
    sliced = jacobian_norm(lambda x: mlp(x)[:, :10], x, per_sample=True)
    assert torch.allclose(sliced.per_sample, expected)
    assert sliced.vjps == 10, "its graph shows it"
    turned = jacobian_norm(lambda x: mlp(x).roll(1, 1), x, per_sample=True)
    assert torch.allclose(turned.per_sample, expected)
    assert turned.vjps == 10 + 1, "its graph does not show it, but a product does"


def test_samples_that_do_influence_one_another_are_found(mlp, x):
    normed = nn.Sequential(mlp, nn.BatchNorm1d(10).double())
    with pytest.raises(UsageError, match="influence one another"):
        jacobian_norm(normed, x, per_sample=True)
    assert float(jacobian_norm(normed.eval(), x, per_sample=True)) == pytest.approx(truth(normed, x))
    with pytest.raises(UsageError, match="influence one another"):
        jacobian_norm(lambda x: mlp(x) + 1e-2 * mlp(x)[[2, 0, 1, 3, 4]], x, per_sample=True)
    with pytest.raises(UsageError, match="first dimension"):
        jacobian_norm(lambda x: mlp(x).sum(0), x, per_sample=True)


def test_the_last_row_of_the_last_batch_is_looked_at_too(mlp, x):
    def f(x):
        y = mlp(x)
        return torch.cat([y[:, :9], y[:, 9:] + 1e-2 * y[[2, 0, 1, 3, 4], 9:]], 1)

    with pytest.raises(UsageError, match="influence one another"):
        jacobian_norm(f, x, per_sample=True, memory=20_000)
    assert jacobian_norm(mlp, x, per_sample=True, memory=20_000).chunk < 9, "or that was one batch"


HEADS = {
    "bias": lambda x, w: torch.addmm(torch.ones(3, dtype=x.dtype), x.tanh(), w),
    "bias that depends by x": lambda x, w: torch.addmm(x.sum(), x.tanh(), w),
    "no bias": lambda x, w: x.tanh() @ w,
    "scaled": lambda x, w: torch.addmm(torch.ones(3, dtype=x.dtype), x.tanh(), w, alpha=2, beta=3),
    "weights that depend by x": lambda x, w: x.tanh() @ (w * x.sum()),
    "only the weights do": lambda x, w: torch.ones(5, 4, dtype=x.dtype) @ (w * x.sum()),
    "nothing before": lambda x, w: x @ w,
}


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("by", ["x", "x and w"])
def test_a_last_linear_layer_is_passed_by_only_where_it_may_be(name, by):
    x, w = (torch.randn(shape, dtype=torch.float64, generator=seeded(0)) for shape in ((5, 4), (4, 3)))
    f, given = (HEADS[name], (x, w)) if by == "x and w" else (lambda x: HEADS[name](x, w), (x,))
    whole = torch.autograd.functional.jacobian(f, given)
    expected = sum(each.square().sum().item() for each in whole)
    for memory in (None, 2_000):
        assert float(jacobian_norm(f, given, memory=memory)) == pytest.approx(expected)


def test_a_hook_on_the_output_of_a_last_linear_layer_is_called(mlp, x):
    y = mlp(x.requires_grad_())
    y.register_hook(lambda gradient: 3 * gradient)
    assert float(jacobian_norm(y, x)) == pytest.approx(9 * truth(mlp, x))


def test_complex_numbers_count_as_two():
    matrix = torch.randn(3, 5, dtype=torch.complex128, generator=seeded(0))
    z = torch.randn(5, dtype=torch.complex128, generator=seeded(1))

    def real(parts):
        return torch.view_as_real((matrix @ torch.view_as_complex(parts)).sin())

    true = torch.autograd.functional.jacobian(real, torch.view_as_real(z)).square().sum().item()
    found = jacobian_norm(lambda z: (matrix @ z).sin(), z)
    assert float(found) == pytest.approx(true)
    assert (found.outputs, found.inputs) == (6, 10)
    estimate = jacobian_norm(lambda z: (matrix @ z).sin(), z, probes=4000, generator=seeded(0))
    low, high = estimate.interval(0.999)
    assert low < true < high


def test_nested_inputs_and_outputs_and_what_is_constant_in_them():
    def f(batch):
        return {"y": batch["x"] @ batch["w"], "best": batch["x"].argmax(), "cut": batch["x"].detach()}

    batch = {"x": torch.ones(3), "w": torch.ones(3, 2), "index": torch.arange(3), "rest": torch.ones(2)}
    found = jacobian_norm(f, batch)
    assert float(found) == pytest.approx(2 * 3 + 2 * 3)
    told = "\n".join(found.notes)
    assert "x['index'] is a constant: it is int64" in told
    assert "outputs['best'] is a constant" in told
    assert "outputs['cut'] is a constant" in told
    assert "Zero columns: x['rest'] is not reached" in told


def test_a_tuple_is_several_arguments_even_of_one_tensor():
    x = torch.tensor([1.0, 2.0])
    found = jacobian_norm(lambda a, b: a * b, (x, x))
    assert (float(found), found.inputs) == (pytest.approx(10), 4)
    assert not x.requires_grad


def test_an_op_that_cannot_be_batched_is_run_one_by_one_and_told():
    x = torch.arange(20.0)
    found = jacobian_norm(NoBatching.apply, x)
    assert float(found) == pytest.approx(4 * x.square().sum().item())
    (note,) = found.notes
    assert "one by one" in note


def test_an_op_without_a_batching_rule_is_told():
    x = torch.randn(4, 8, generator=seeded(0))
    f = lambda x: ops.rms_norm(x, torch.ones(8))  # noqa: E731
    found = jacobian_norm(f, x)
    plain = truth(lambda x: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6), x)
    assert float(found) == pytest.approx(plain, rel=1e-3)
    (note,) = found.notes
    assert "pyharness::rms_norm_backward" in note


def test_an_error_of_the_backward_pass_itself_is_explained():
    def f(x):
        y = x * 1
        z = y.sin()
        y.add_(1)
        return z

    with pytest.raises(HarnessError, match="overwritten in place"):
        jacobian_norm(f, torch.ones(3))


def test_it_can_be_trained_with(mlp, x):
    found = jacobian_norm(mlp, x, create_graph=True)
    (gradient,) = torch.autograd.grad(found.squared, mlp[0].weight)
    expected = torch.autograd.grad(jacrev(mlp)(x).square().sum(), mlp[0].weight)[0]
    assert torch.allclose(gradient, expected)
    estimate = jacobian_norm(mlp, x, probes=2, create_graph=True)
    assert torch.autograd.grad(estimate.squared, mlp[0].weight)[0].abs().sum() > 0


def test_between_captured_modules(mlp, x):
    with capture(mlp, detach=False) as captured:
        mlp(x.requires_grad_())
    hidden = mlp[0](x).detach()
    rest = nn.Sequential(mlp[1], mlp[2])
    assert float(jacobian_norm(captured["2"], captured["0"])) == pytest.approx(truth(rest, hidden))
    assert float(jacobian_norm(captured["2"], x)) == pytest.approx(truth(mlp, x))
    assert float(jacobian_norm(captured["1"].tensor, captured["0"].tensor)) == pytest.approx(truth(mlp[1], hidden))
    with pytest.raises(UsageError, match="the wrong way round"):
        jacobian_norm(captured["0"], captured["2"])
    with pytest.raises(UsageError, match="cannot be called with a record"):
        jacobian_norm(mlp, captured["0"])


@pytest.mark.parametrize(
    ("f", "x", "options", "message"),
    [
        (torch.sin, torch.arange(3), {}, "x is int64"),
        (lambda x: x.detach(), torch.ones(3), {}, "outputs does not require grad"),
        (lambda x: 2 * x, torch.ones(0, 3), {}, "outputs has no elements: its shape is (0, 3)"),
        (lambda x: x.sum().item(), torch.ones(3), {}, "outputs has no tensor: float"),
        (torch.sin, 3, {}, "x has no tensor"),
        (torch.sin, torch.ones(3), {"distribution": "gausian"}, "Did you mean gaussian"),
        (torch.sin, torch.ones(3), {"probes": 0}, "probes must be positive"),
        (torch.sin, torch.ones(3), {"rtol": -1.0}, "rtol must be positive"),
    ],
    ids=["integers", "detached", "empty", "number", "no tensor", "distribution", "probes", "rtol"],
)
def test_what_cannot_be_meant_is_answered(f, x, options, message):
    with pytest.raises(UsageError) as caught:
        jacobian_norm(f, x, **options)
    assert message in str(caught.value)


def test_modes_around_it_do_not_matter(mlp, x):
    true = truth(mlp, x)
    with torch.no_grad():
        assert float(jacobian_norm(mlp, x)) == pytest.approx(true)
    with torch.inference_mode():
        assert float(jacobian_norm(mlp, x.clone())) == pytest.approx(true)


def test_lines_and_json(mlp, x):
    exact, estimate = jacobian_norm(mlp, x), jacobian_norm(mlp, x, probes=40, generator=seeded(0))
    assert [line.text for line in exact.lines()][1].strip() == "J is 50 by 30; 50 VJPs, 50 at once"
    assert "40 probes" in str(estimate)
    told = json.loads(json.dumps(estimate.to_json()))
    assert told["interval"][0] < told["squared"] < told["interval"][1]
    assert told["norm"] == pytest.approx(math.sqrt(told["squared"]))
    assert exact.to_json()["interval"] is None
