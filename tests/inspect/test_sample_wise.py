"""Whether samples leave one another alone, read from graphs: never where they do not, and where networks usually do."""

from __future__ import annotations

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jacobians import seeded, truth
from torch import nn

from pyharness.inspect import jacobian_norm
from pyharness.inspect.norms.gradient_memory import backward_of
from pyharness.inspect.norms.sample_wise import keeps_samples_apart
from pyharness.inspect.variables import Variable
from pyharness.model.errors import UsageError

BATCH = 2
WEIGHT = torch.tensor([[0.3, -1.2], [0.7, 0.4]], dtype=torch.float64)


def said(f, x):
    """What the graph of ``f`` says."""
    x = x.detach().requires_grad_()
    y = f(x)
    output, given = (Variable(name, "", each, each) for name, each in (("y", y), ("x", x)))
    return keeps_samples_apart(output, backward_of([output], [given]), len(x))


def is_so(f, x):
    """What the whole Jacobian says."""
    y = f(x)
    jacobian = torch.autograd.functional.jacobian(f, x).reshape(len(x), y.numel() // len(x), len(x), -1)
    return not any(jacobian[i, :, j].any() for i in range(len(x)) for j in range(len(x)) if i != j)


def _of_last_two(x, f):
    """A function of batches of matrices, on what has at least two dimensions."""
    return f(x.reshape(-1, *x.shape[-2:])).reshape(x.shape) if x.dim() > 1 else x.exp()


def _attention(x, _dim):
    if x.numel() % 8:
        return x.sin()
    q = x.reshape(2, 2, -1, 2)
    return nn.functional.scaled_dot_product_attention(q, q.exp(), q.tanh()).reshape(x.shape)


STEPS = {
    "elementwise": lambda x, _: (x * 1.5).tanh() + x,
    "square root": lambda x, _: (x.square() + 1).rsqrt(),
    "softmax": lambda x, dim: x.softmax(dim),
    "cumulated": lambda x, dim: x.cumsum(dim),
    "reduced": lambda x, dim: x.sum(dim),
    "reduced and spread": lambda x, dim: x / (x.abs().mean(dim, keepdim=True) + 1),
    "largest": lambda x, dim: x.amax(dim, keepdim=True) * x,
    "spread": lambda x, dim: x.unsqueeze(dim).expand(*x.shape[:dim], 2, *x.shape[dim:]),
    "transposed": lambda x, dim: x.transpose(0, dim),
    "permuted": lambda x, dim: x.permute(*range(dim, x.dim()), *range(dim)),
    "copied": lambda x, dim: x.transpose(0, dim).contiguous(),
    "reversed": lambda x, dim: x.flip(dim),
    "flat": lambda x, dim: x.flatten(0, dim),
    "in pairs": lambda x, _: x.reshape(-1, 2),
    "in fours": lambda x, _: x.reshape(-1, 4) if x.numel() % 4 == 0 else x,
    "in pairs of pairs": lambda x, _: x.reshape(-1, 2, 2) if x.numel() % 4 == 0 else x,
    "in two": lambda x, _: x.reshape(2, -1),
    "one of them": lambda x, dim: x.select(dim, 0),
    "one for all": lambda x, dim: x * x.select(dim, 0).unsqueeze(dim),
    "a part": lambda x, dim: x.narrow(dim, 0, 1),
    "stacked": lambda x, dim: torch.stack([x, x.sin()], dim),
    "joined": lambda x, dim: torch.cat([x, x.cos()], dim),
    "divided": lambda x, dim: torch.cat(x.split(1, dim), (dim + 1) % x.dim()),
    "taken apart": lambda x, dim: torch.stack(x.unbind(dim), -1),
    "layer norm": lambda x, dim: nn.functional.layer_norm(x, x.shape[dim:]),
    "linear": lambda x, _: nn.functional.linear(x, WEIGHT) if x.shape[-1] == BATCH else x,
    "linear from the left": lambda x, _: WEIGHT @ x if x.dim() > 1 and x.shape[-2] == BATCH else x,
    "by itself": lambda x, _: _of_last_two(x, lambda m: (m @ m.transpose(1, 2) @ m).tanh()),
    "to itself": lambda x, dim: x + x.transpose(0, dim) if x.shape[0] == x.shape[dim] else x,
    "attention": _attention,
}


def through(steps, x):
    """Every dimension has as many as there are samples at first, so none is told from another one by its size."""
    for name, dim in steps:
        if x.dim() and x.numel() % 2 == 0 and x.numel() <= 64:
            x = STEPS[name](x, dim % x.dim())
    return x.reshape(BATCH, -1) if x.numel() % BATCH == 0 else torch.stack([x.flatten()] * BATCH)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 3)), min_size=1, max_size=7))
def test_it_is_never_said_where_it_is_not_so(steps):
    def f(x):
        return through(steps, x)

    x = torch.randn(BATCH, 2, 2, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assume(f(x).isfinite().all())  # of nan, a Jacobian says nothing
    assert is_so(f, x) or not said(f, x)


def residual(x):
    return nn.functional.rms_norm(x, x.shape[-1:]) + x


MODELS = {
    "transformer, batch first": (nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (5, 3, 8)),
    "layers on positions": (nn.Sequential(nn.Linear(8, 4), nn.GELU(), nn.LayerNorm(4)), (5, 3, 8)),
    "a norm written out": (residual, (5, 3, 8)),
    "attention written out": (lambda x: (x @ x.transpose(1, 2) / 3).softmax(-1) @ x, (5, 3, 8)),
    "einsum": (lambda x: torch.einsum("bij,bkj->bik", x, x.tanh()), (5, 3, 8)),
    "group norm": (nn.Sequential(nn.GroupNorm(2, 4), nn.Conv1d(4, 4, 3)), (5, 4, 8)),
    "a mixer": (lambda x: nn.functional.linear(x.transpose(1, 2), torch.ones(2, 3)).transpose(1, 2), (5, 3, 8)),
    "parts": (lambda x: torch.cat([part.tanh() for part in x.chunk(2, -1)], 1), (5, 3, 8)),
    "the first position": (lambda x: x.softmax(-1)[:, 0], (5, 3, 8)),
    "images": (
        nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Upsample(scale_factor=2), nn.MaxPool2d(2)),
        (5, 2, 6, 6),
    ),
    "turned images": (lambda x: x.permute(0, 2, 3, 1).reshape(5, -1, 2).logsumexp(1), (5, 2, 6, 6)),
}


@pytest.mark.parametrize("name", MODELS)
def test_it_is_said_of_what_networks_are_made_of(name):
    f, shape = MODELS[name]
    torch.manual_seed(0)
    assert said(f, torch.randn(shape))


def test_where_an_op_is_not_known_it_is_not_said():
    assert not said(lambda x: x.flip(1), torch.randn(5, 3)), "flip is known now: take another op"


@pytest.mark.parametrize("batch_first", [True, False])
def test_samples_and_positions_are_told_apart(batch_first):
    """Of a transformer layer that takes positions first, the first dimension does not count samples."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=batch_first)
    assert said(layer, torch.randn(4, 4, 8)) == batch_first


class Relu(torch.autograd.Function):
    """Of the user's, called as one of torch's nodes is; it shifts the samples."""

    @staticmethod
    def forward(_ctx, x):
        return x.roll(1, 0)

    @staticmethod
    def backward(_ctx, gradient):
        return gradient.roll(-1, 0)


APART = {
    "elementwise": lambda x: torch.nn.functional.gelu(x * 2 + x.tanh()).exp(),
    "softmax": lambda x: x.softmax(-1),
    "reduced": lambda x: x.reshape(4, 2, 2).mean((-1,)).sum(1, keepdim=True),
    "layer norm": lambda x: nn.functional.layer_norm(x, (4,)),
    "evaluated batch norm": lambda x: nn.functional.batch_norm(x, torch.zeros(4), torch.ones(4)),
    "pooled": lambda x: nn.functional.max_pool2d(nn.functional.conv2d(x.view(4, 1, 2, 2), torch.ones(2, 1, 1, 1)), 2),
}
TOGETHER = {
    "softmax of samples": lambda x: x.softmax(0),
    "added across": lambda x: x + x.sum(0, keepdim=True),
    "multiplied across": lambda x: x * x[0].exp(),
    "layer norm of all": lambda x: nn.functional.layer_norm(x.exp(), (4, 4)),
    "trained batch norm": lambda x: nn.functional.batch_norm(x.exp(), None, None, training=True),
    "transposed": lambda x: x.T.exp(),
    "from the left": lambda x: torch.ones(4, 4) @ x.exp(),
    "of itself": lambda x: x.exp() @ x,
    "a function of the user's": lambda x: Relu.apply(x.exp()),
}


@pytest.mark.parametrize("name", APART)
def test_a_norm_of_samples_whose_graph_shows_it_needs_no_product(name):
    x = torch.randn(4, 4, generator=seeded(0))
    found = jacobian_norm(APART[name], x, per_sample=True)
    assert float(found) == pytest.approx(truth(APART[name], x), rel=1e-4)
    assert found.vjps == found.outputs // 4


@pytest.mark.parametrize("name", TOGETHER)
def test_a_norm_of_samples_that_do_not_stay_apart_is_refused(name):
    with pytest.raises(UsageError, match="influence one another"):
        jacobian_norm(TOGETHER[name], torch.randn(4, 4, generator=seeded(0)), per_sample=True)
