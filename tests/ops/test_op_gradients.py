"""First, second and third derivatives of every op, checked numerically."""

import pytest
import torch
from op_samples import SMALL, expanded
from torch.autograd import gradcheck, gradgradcheck

import pyharness.ops


def bound(sample):
    """The op as a function of its float tensors."""
    op = getattr(pyharness.ops, sample.op)
    return lambda *tensors: op(*tensors, *sample.rest)


def differentiable(sample):
    """gradcheck perturbs one element at a time, so inputs must not overlap in memory; the loss of no rows is NaN."""
    is_nan = sample.op == "softmax_cross_entropy" and sample.shapes[0][0] == 0
    return sample.layout is not expanded and not is_nan


SAMPLES = list(filter(differentiable, SMALL))


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_gradcheck(sample):
    tensors = sample.tensors(torch.float64, requires_grad=True)
    assert gradcheck(bound(sample), tensors, fast_mode=True)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_gradgradcheck(sample):
    tensors = sample.tensors(torch.float64, requires_grad=True)
    assert gradgradcheck(bound(sample), tensors, fast_mode=True)


@pytest.mark.parametrize("op", ["rms_norm", "swiglu", "softmax_cross_entropy", "gated_scan"])
def test_every_element_and_third_derivatives(op):
    sample = next(sample for sample in SAMPLES if sample.op == op and len(sample.shapes[0]) > 1)
    tensors = sample.tensors(torch.float64, requires_grad=True)
    assert gradcheck(bound(sample), tensors)
    assert gradgradcheck(bound(sample), tensors)

    def gradients(*inputs):
        output = bound(sample)(*inputs)
        return torch.autograd.grad(output.square().sum(), inputs, create_graph=True)

    assert gradgradcheck(gradients, tensors, fast_mode=True)


@pytest.mark.parametrize("sample", [sample for sample in SMALL if len(sample.shapes) > 1], ids=str)
def test_one_input_alone_can_ask_for_a_gradient(sample):
    for asked in range(len(sample.shapes)):
        tensors = sample.tensors(torch.float32)
        tensors[asked].requires_grad_()
        bound(sample)(*tensors).sum().backward()
        assert tensors[asked].grad.shape == tensors[asked].shape


def test_forward_mode_is_refused_rather_than_dropped():
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.ones(2, 3), torch.ones(2, 3))
        with pytest.raises(RuntimeError, match="jvp is not implemented"):
            pyharness.ops.swiglu(dual, torch.ones(2, 3))
