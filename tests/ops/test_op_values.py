"""Values and gradients of every op on every sample, against plain torch in float64."""

import pytest
import torch
from op_samples import DTYPES, REFERENCES, SAMPLES, TOLERANCES

import pyharness.ops


def close(actual, expected, dtype):
    torch.testing.assert_close(actual.double(), expected, equal_nan=True, check_dtype=False, **TOLERANCES[dtype])


def differentiate(function, tensors, rest, seed):
    output = function(*tensors, *rest)
    grads = torch.autograd.grad(output, tensors, seed.to(output.dtype), materialize_grads=True)
    return [output, *grads]


def same_results(sample, tensors):
    """Output and gradients of op and reference, the reference's from float64 copies of the very same numbers."""
    dtype = tensors[0].dtype
    wide = [tensor.detach().double().requires_grad_() for tensor in tensors]
    reference = REFERENCES[sample.op]
    with torch.no_grad():
        seed = torch.randn_like(reference(*wide, *sample.rest)).to(dtype)
    actual = differentiate(getattr(pyharness.ops, sample.op), tensors, sample.rest, seed)
    expected = differentiate(reference, wide, sample.rest, seed.double())
    for one, other in zip(actual, expected, strict=True):
        assert one.dtype == dtype
        close(one, other, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_values_and_gradients_are_those_of_plain_torch(sample, dtype):
    same_results(sample, sample.tensors(dtype, requires_grad=True))


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.op != "gated_scan"], ids=str)
def test_large_values_do_not_overflow(sample):
    same_results(sample, [(80 * tensor).requires_grad_() for tensor in sample.tensors(torch.float32)])


@pytest.mark.parametrize("op", ["softmax_cross_entropy", "swiglu", "rms_norm"])
def test_nan_is_passed_on(op):
    sample = next(sample for sample in SAMPLES if sample.op == op and len(sample.shapes[0]) == 2)
    tensors = sample.tensors(torch.float32)
    tensors[0][1, 1] = torch.nan
    assert getattr(pyharness.ops, op)(*tensors, *sample.rest).isnan().any()


def test_masked_logits_have_no_probability_and_no_gradient():
    logits = torch.tensor([[0.0, -torch.inf, 1.0]], requires_grad=True)
    loss = pyharness.ops.softmax_cross_entropy(logits, torch.tensor([2]))
    loss.backward()
    torch.testing.assert_close(loss, torch.log(1 + torch.exp(torch.tensor(-1.0))))
    assert logits.grad[0, 1] == 0


def test_a_loss_without_targets_is_nan_as_in_torch():
    logits = torch.randn(3, 4, requires_grad=True)
    loss = pyharness.ops.softmax_cross_entropy(logits, torch.full((3,), -100))
    loss.backward()
    assert loss.isnan()
    assert not logits.grad.any()


def test_a_scan_goes_on_from_its_last_state():
    gate, values, state = torch.rand(2, 10, 3), torch.randn(2, 10, 3), torch.randn(2, 3)
    whole = pyharness.ops.gated_scan(gate, values, state)
    first = pyharness.ops.gated_scan(gate[:, :4], values[:, :4], state)
    second = pyharness.ops.gated_scan(gate[:, 4:], values[:, 4:], first[:, -1])
    assert torch.equal(whole, torch.cat([first, second], 1))


def test_bfloat16_is_summed_in_float32():
    width = 4096  # in bfloat16 a sum of ones stops growing at 256
    ones = torch.ones(2, width, dtype=torch.bfloat16)
    assert torch.equal(pyharness.ops.rms_norm(ones, ones[0], 0.0), ones)
    steps = torch.full((1, 1000, 1), 1.0, dtype=torch.bfloat16)
    assert pyharness.ops.gated_scan(steps, steps, steps[:, 0])[0, -1] == 1000


def test_thread_counts_do_not_change_a_result():
    torch.manual_seed(0)
    x, weight = torch.randn(512, 512, requires_grad=True), torch.ones(512)
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            loss = pyharness.ops.softmax_cross_entropy(pyharness.ops.rms_norm(x, weight), torch.arange(512))
            results.append((loss, *torch.autograd.grad(loss, x)))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))
