"""Gradients through a transformed graph: what differs although the results agree, and whose backward it is."""

import pytest
import torch
from torch import fx, nn

from pyharness.fx import trace, transform, verify
from pyharness.model.errors import UsageError


class Wrong(torch.autograd.Function):
    """Tanh with half of its gradient."""

    @staticmethod
    def forward(ctx, x):
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return gradient * (1 - y * y) / 2


@fx.wrap
def wrong_tanh(x):
    return Wrong.apply(x)


@fx.wrap
def raising(x):
    def refuse(_):
        raise ValueError("no way back")

    y = torch.tanh(x)
    if y.requires_grad:
        y.register_hook(refuse)
    return y


@fx.wrap
def constant_tanh(x):
    with torch.no_grad():
        return torch.tanh(x)


class FrozenWeight(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, self.weight.detach(), self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(4, 6), nn.Linear(6, 3)

    def forward(self, x, scale=1.0):
        return self.second(torch.tanh(self.first(x) * scale)), x.sum()


@pytest.fixture
def module():
    return trace(Net())


def with_tanh(module, target):
    return transform(f"tanh to {target.__name__}, {id(module)}")(_replacing(target))(module)


def _replacing(target):
    def change(module: fx.GraphModule) -> None:
        for node in module.graph.find_nodes(op="call_function", target=torch.tanh):
            node.target = target

    return change


X = torch.linspace(-1, 1, 8).reshape(2, 4)


def test_the_same_gradients_agree_and_nothing_is_left_behind(module):
    x = X.clone().requires_grad_()
    verdict = verify(Net(), module, (x,), {"scale": torch.tensor(2.0)}, gradients=True)
    assert (verdict.ok, verdict.first, verdict.gradients) == (True, None, ())
    assert x.grad is None
    assert all(each.grad is None for each in module.parameters())


def test_a_wrong_backward_is_found_at_its_node(module):
    changed = with_tanh(module, wrong_tanh)
    assert verify(module, changed, X), "its results are right"
    verdict = verify(module, changed, X, gradients=True)
    assert [each.path for each in verdict.gradients] == [
        f"gradient of {each}" for each in ("inputs[0]", "first.weight", "first.bias")
    ]
    assert (verdict.first.node, verdict.first.kind, verdict.first.counterpart) == ("tanh", "gradient", "tanh")
    assert verdict.first.reason == "the gradient that its backward gives mul is another one"
    assert "gradient of mul" in str(verdict)
    assert verdict.first.difference.sizes.largest_relative == pytest.approx(0.5)
    assert "first difference at node tanh" in verdict.headline


def test_a_value_that_is_cut_off_is_found(module):
    verdict = verify(module, with_tanh(module, constant_tanh), X, gradients=True)
    assert (verdict.first.node, verdict.first.kind) == ("tanh", "gradient")
    assert "does not require grad" in verdict.first.reason


def test_a_node_that_came_between_is_found(module):
    @transform("cut off")
    def cut(module: fx.GraphModule) -> None:
        (mul,) = module.graph.find_nodes(op="call_function", target=torch.tanh)
        with module.graph.inserting_after(mul):
            between = module.graph.call_method("detach", (mul,))
        mul.replace_all_uses_with(between, delete_user_cb=lambda user: user is not between)

    verdict = verify(module, cut(module), X, gradients=True)
    assert (verdict.first.node, verdict.first.counterpart) == ("detach", None)


def test_a_parameter_inside_of_a_module_is_found(module):
    changed = trace(Net())
    changed.second = FrozenWeight(6, 3)
    changed.second.load_state_dict(module.second.state_dict())
    verdict = verify(module, changed, X, gradients=True)
    assert [each.path for each in verdict.gradients] == ["gradient of second.weight"]
    assert (verdict.first.node, verdict.first.kind) == ("second", "gradient")


def test_a_backward_that_raises_is_a_difference(module):
    verdict = verify(module, with_tanh(module, raising), X, gradients=True)
    assert not verdict.ok
    assert "its backward raises ValueError: no way back" in str(verdict)


def test_an_original_without_gradients_is_refused():
    with pytest.raises(UsageError, match="gives no gradients: RuntimeError: nothing of its result requires grad"):
        verify(lambda x: x.argmax(), lambda x: x.argmax(), X, gradients=True)
