"""Statistics agree with torch's own, for every kind of tensor, in bounded memory."""

import math

import pytest
import torch

from pyharness.inspect.statistics import statistics_of


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32, torch.bool]
)
def test_of_every_dtype(dtype):
    x = (torch.randn(7, 11, generator=torch.Generator().manual_seed(0)) * 3).to(dtype)
    x[0, :5] = 0
    found, wide = statistics_of(x), x.double()
    assert (found.dtype, found.shape, found.count) == (str(dtype)[6:], (7, 11), 77)
    assert found.zeros == int((x == 0).sum())
    assert found.minimum == wide.min().item()
    assert found.maximum == wide.max().item()
    assert found.mean == pytest.approx(wide.mean().item(), rel=1e-5, abs=1e-7)
    assert found.std == pytest.approx(wide.std().item(), rel=1e-5)
    assert found.norm == pytest.approx(wide.norm().item(), rel=1e-5)
    assert (found.nan, found.infinite) == (0, 0)


def test_bad_values_are_counted_and_left_out():
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), float("inf"), 1.0, -2.0, 0.0])
    found = statistics_of(x)
    assert (found.nan, found.positive_infinity, found.negative_infinity, found.zeros) == (1, 2, 1, 1)
    assert (found.minimum, found.maximum) == (-2.0, 1.0)
    assert found.mean == pytest.approx(-1 / 3)
    assert found.std == pytest.approx(torch.tensor([1.0, -2.0, 0.0]).std().item())
    assert "1 NaN, 3 Inf" in str(found)


def test_nothing_finite_and_nothing_at_all():
    assert statistics_of(torch.full((3,), float("nan"))).mean is None
    empty = statistics_of(torch.empty(0, 4))
    assert (empty.count, empty.mean, empty.zero_fraction) == (0, None, 0.0)
    assert statistics_of(torch.tensor(2.0)).std is None


def test_large_values_do_not_overflow():
    found = statistics_of(torch.tensor([1e30, -1e30, 3e30]))
    assert found.mean == pytest.approx(1e30, rel=1e-5)
    assert found.std == pytest.approx(2e30, rel=1e-5)
    assert math.isfinite(found.norm)


def test_parts_of_a_half_tensor_add_up(monkeypatch):
    monkeypatch.setattr("pyharness.inspect.statistics._CHUNK", 10)
    x = torch.randn(103, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    x[50] = float("nan")
    found, rest = statistics_of(x), x[~x.isnan()].double()
    assert found.count == 103
    assert found.std == pytest.approx(rest.std().item(), rel=1e-5)
    assert found.mean == pytest.approx(rest.mean().item(), rel=1e-5)


def test_complex_counts_both_parts_and_sparse_what_is_stored():
    found = statistics_of(torch.tensor([3 + 4j, 0j]))
    assert (found.count, found.zeros, found.norm) == (4, 2, 5.0)
    sparse = torch.tensor([[0.0, 2.0], [0.0, 3.0]])
    assert statistics_of(sparse.to_sparse()).mean == 2.5
    assert statistics_of(sparse.to_sparse_csr()).maximum == 3.0


def test_what_has_no_elements_to_look_at_says_so():
    assert statistics_of(torch.empty(3, device="meta")).why_not == "a meta tensor has no elements"
    seen = []
    torch.func.vmap(lambda x: (seen.append(statistics_of(x)), x)[1])(torch.ones(2, 3))
    assert "torch.func" in seen[0].why_not
    assert seen[0].shape == (3,)


def test_a_quantized_tensor():
    x = torch.quantize_per_tensor(torch.tensor([0.0, 1.0, 2.0]), 0.5, 0, torch.qint8)
    assert statistics_of(x).mean == 1.0
