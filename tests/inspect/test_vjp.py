"""vjp agrees with autograd, checks what it is given, and explains the inputs that have no gradient."""

import pytest
import torch
from torch import nn

from pyharness.inspect import capture, vjp
from pyharness.model.errors import HarnessError, UsageError


@pytest.fixture
def x():
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


@pytest.fixture
def w():
    return torch.arange(12.0).reshape(4, 3).requires_grad_()


def test_nested_outputs_and_inputs(x, w):
    outputs = {"a": w @ x, "b": [(x**2).sum(), x.argmax()]}
    v = {"a": torch.arange(4.0), "b": [torch.tensor(2.0)]}
    found = vjp(outputs, {"x": x, "rest": (w,)}, v, retain_graph=True)
    expected = torch.autograd.grad([outputs["a"], outputs["b"][0]], [x, w], [v["a"], v["b"][0]])
    assert torch.equal(found["x"], expected[0])
    assert torch.equal(found["rest"][0], expected[1])


def test_a_scalar_needs_no_vector(x):
    assert torch.equal(vjp((x**2).sum(), x), 2 * x)


def test_the_graph_can_be_kept_or_made(x):
    y = x**3
    first = vjp(y, x, torch.ones(3), create_graph=True)
    assert torch.allclose(vjp(first, x, torch.ones(3)), 6 * x)
    z = x.exp()
    vjp(z, x, torch.ones(3), retain_graph=True)
    vjp(z, x, torch.ones(3))
    with pytest.raises(HarnessError, match="retain_graph=True"):
        vjp(z, x, torch.ones(3))


def test_complex_outputs():
    z = torch.tensor([1 + 2j, 3j], requires_grad=True)
    v = torch.tensor([1 + 1j, 2.0])
    (expected,) = torch.autograd.grad(z * z, z, v)
    assert torch.equal(vjp(z * z, z, v), expected)


@pytest.mark.parametrize(
    ("v", "message"),
    [
        (None, "outputs has the shape (4,): a vjp needs v"),
        (torch.ones(3), "v has the shape (3,), but outputs has (4,)"),
        (torch.ones(4, 1), "v.reshape((4,))"),
        (torch.ones(4, dtype=torch.float64), "v is float64, but outputs is float32.\nv.to(torch.float32)"),
        (torch.ones(4, device="meta"), "v is on meta, outputs on cpu"),
        ([torch.ones(4)], "v[0] belongs to no output"),
    ],
    ids=["none", "shape", "reshape", "dtype", "device", "structure"],
)
def test_a_vector_that_does_not_fit_is_named_with_the_remedy(x, w, v, message):
    with pytest.raises(UsageError) as caught:
        vjp(w @ x, x, v)
    assert message in str(caught.value)


def test_a_misnamed_or_missing_part_of_the_vector(x, w):
    outputs = {"scores": w @ x, "loss": x.sum()}
    with pytest.raises(UsageError, match="Did you mean"):
        vjp(outputs, x, {"score": torch.ones(4), "loss": torch.tensor(1.0)})
    with pytest.raises(UsageError, match=r"v has nothing for outputs\['loss'\]"):
        vjp(outputs, x, {"scores": torch.ones(4)})


def reasons(outputs, inputs, v=None):
    with pytest.raises(UsageError) as caught:
        vjp(outputs, inputs, v)
    return str(caught.value)


def test_every_unused_input_is_explained_at_once(x, w):
    inputs = {
        "x": x,
        "other": torch.ones(2, requires_grad=True),
        "plain": torch.ones(2),
        "index": torch.arange(3),
        "inference": torch.inference_mode()(torch.ones)(3),
    }
    told = reasons(w @ x, inputs, torch.ones(4))
    assert "inputs['x']" not in told
    assert "inputs['other'] is not reached from the outputs" in told
    assert "inputs['plain'] does not require grad" in told
    assert "inputs['index'] is int64" in told
    assert "inputs['inference'] was made in inference_mode" in told
    zeros = vjp(w @ x, inputs, torch.ones(4), unused="zero")
    assert torch.equal(zeros["other"], torch.zeros(2))
    assert torch.equal(zeros["x"], w.sum(0))
    nones = vjp(w @ x, inputs, torch.ones(4), unused="none")
    assert nones["other"] is None
    with pytest.raises(UsageError, match="Did you mean zero"):
        vjp(w @ x, x, torch.ones(4), unused="zeros")


def test_why_another_tensor_over_the_same_memory_has_none(x, w):
    assert "another tensor over the same memory" in reasons(w @ x, x.detach().requires_grad_(), torch.ones(4))


def test_why_an_overwritten_tensor_has_none(x):
    h = x * 2
    y = h.exp() * 3
    h.add_(1)
    assert "was overwritten in place after the outputs" in reasons(y, h, torch.ones(3))


def test_why_a_view_taken_beside_has_none(x, w):
    assert "was made from what the outputs use, beside them" in reasons(w @ x, x[:2], torch.ones(4))


def test_why_a_later_tensor_has_none(x, w):
    h = w @ x
    assert "the wrong way round" in reasons(h, h.sin(), torch.ones(4))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda y: y.argmax(), "is int64: comparing, argmax and indices have no derivative"),
        (lambda y: y.detach(), "does not require grad: it was made under no_grad, detached"),
        (lambda y: torch.inference_mode()(lambda: y + 1)(), "was made in inference_mode"),
    ],
    ids=["integer", "detached", "inference"],
)
def test_an_output_without_derivative_is_explained(x, w, make, message):
    assert message in reasons(make(w @ x), x)


def test_an_in_place_change_that_breaks_backward_is_explained(x):
    h = x * 2
    y = h.sin()
    h.add_(1)
    with pytest.raises(HarnessError, match=r"overwritten in place[\s\S]*record.overwritten"):
        vjp(y, x, torch.ones(3))


def test_between_captured_modules_whatever_was_written_in_place(x):
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(inplace=True), nn.Linear(5, 2))
    with capture(model, detach=False) as captured:
        model(x[None])
    v = torch.tensor([[1.0, -1.0]])
    found = vjp(captured["2"], captured["0"], v, retain_graph=True)
    hidden = model[0](x[None])
    assert torch.allclose(found, (v @ model[2].weight) * (hidden > 0))
    assert torch.allclose(vjp(captured["2"], x, v), found @ model[0].weight)
    with capture(model) as detached:
        model(x[None])
    with pytest.raises(UsageError, match="detach=False"):
        vjp(detached["2"], x, v)
    with capture(model, statistics=True) as numbers:
        model(x[None])
    with pytest.raises(UsageError, match="statistics only"):
        vjp(numbers["2"], x, v)


def test_no_tensor_at_all(x):
    with pytest.raises(UsageError, match="outputs has no tensor: int"):
        vjp(3, x)
