"""Bad values that Python's hooks of the backward make, and only those: a node mends its own before its hooks go on."""

import numpy as np
import pytest
import torch
from nan_search import found, origin

from kit import marks


def ones():
    return torch.ones(3, requires_grad=True)


def of_a_leaf(x):
    x.register_hook(lambda grad: grad / 0 * 0)  # @of_a_leaf
    (x * 2).sum().backward()


def of_a_tensor(x):
    inner = x * 2
    inner.register_hook(lambda grad: torch.log(-grad))  # @of_a_tensor
    inner.sum().backward()


def before_a_node(x):
    inner = (x * 2).sum()
    inner.grad_fn.register_prehook(lambda grads: (grads[0] / 0,))  # @before_a_node
    inner.backward()


def behind_a_node(x):
    inner = (x * 2).sum()
    inner.grad_fn.register_hook(lambda grads, _: (grads[0] / 0,))  # @behind_a_node
    inner.backward()


def behind_an_accumulation(x):
    def spoil(leaf):
        leaf.grad.neg_().log_()  # @behind_an_accumulation

    x.register_post_accumulate_grad_hook(spoil)
    (x * 2).sum().backward()


def of_a_gradient_that_is_only_asked_for(x):
    x.register_hook(lambda grad: grad / 0)  # @of_a_gradient_that_is_only_asked_for
    torch.autograd.grad((x * 2).sum(), x)


def for_a_second_backward(x):
    inner = x * x
    inner.register_hook(lambda grad: grad / 0)  # @for_a_second_backward
    torch.autograd.grad(inner.sum(), x, create_graph=True)


HOOKS = [
    of_a_leaf,
    of_a_tensor,
    before_a_node,
    behind_a_node,
    behind_an_accumulation,
    of_a_gradient_that_is_only_asked_for,
    for_a_second_backward,
]


@pytest.mark.parametrize("run", HOOKS, ids=lambda run: run.__name__)
def test_the_line_of_the_hook(run):
    finding = found(lambda: run(ones()), values=("nan", "inf"))
    assert (finding.kind, finding.made) == ("op", True)
    assert origin(finding) == (__file__, marks.line_of(run.__name__, __file__))


@pytest.mark.parametrize("place", ["leaf", "tensor"])
def test_a_hook_without_ops_has_changed_it(place):
    def run():
        x = ones()
        inner = x * 2
        hooked = x if place == "leaf" else inner
        hooked.register_hook(lambda grad: torch.from_numpy(np.full(grad.shape, np.nan, np.float32)))
        inner.sum().backward()

    finding = found(run)
    assert (finding.kind, finding.made) == ("node", False)
    assert "changed by a hook" in finding.why


def test_what_a_node_with_hooks_mends_itself():
    """The backward of a norm of 0 divides by it, and masks that."""

    def run():
        x = torch.zeros(3, requires_grad=True)
        norm = x.norm() * 1
        norm.register_hook(lambda grad: grad * 2)
        inner = x.norm()
        inner.register_hook(lambda grad: grad * 2)
        inner.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
        inner.grad_fn.register_hook(lambda grads, _: (grads[0] * 2,))
        x.register_hook(lambda grad: grad * 2)
        (norm + inner).backward()
        assert x.grad.tolist() == [0, 0, 0]

    assert found(run, values=("nan", "inf")) is None


def test_what_a_node_makes_is_found_before_its_hooks():
    def run():
        root = torch.zeros(3, requires_grad=True).sqrt()
        root.grad_fn.register_hook(lambda grads, _: (grads[0] * 0,))
        root.sum().backward()

    finding = found(run, values=("nan", "inf"))
    assert (finding.kind, finding.name, finding.made) == ("node", "SqrtBackward0", True)
