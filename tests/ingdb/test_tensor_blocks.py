"""All elements of any strided view, block by block, against torch."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from own_memory import info_of, read_own

from pyharness.ingdb.tensors import blocks as tensor_blocks
from pyharness.ingdb.tensors.blocks import raw_blocks
from pyharness.ingdb.tensors.statistics import statistics
from pyharness.model.tensors.elements import leading


def bytes_of(tensor):
    return tensor.numpy().tobytes()


@st.composite
def views(draw):
    dtype = draw(st.sampled_from([torch.int8, torch.int16, torch.float32, torch.float64, torch.complex128]))
    sizes = draw(st.lists(st.integers(0, 4), max_size=4))
    strides = [draw(st.integers(0, 12)) for _ in sizes]
    base = torch.arange(200).to(dtype)
    return base.as_strided(sizes, strides, draw(st.integers(0, 20)))


@settings(max_examples=150)
@given(views())
def test_any_view(view):
    assert b"".join(raw_blocks(read_own, info_of(view))) == bytes_of(view)


@settings(max_examples=60)
@given(views())
def test_any_view_in_small_pieces(view):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tensor_blocks, "_WINDOW", 64)
        patch.setattr(tensor_blocks, "_FEW", 3)
        assert b"".join(raw_blocks(read_own, info_of(view))) == bytes_of(view)


@given(st.lists(st.integers(0, 100), max_size=5), st.integers(1, 10_000))
def test_a_leading_part_is_small_and_whole_inside(sizes, limit):
    part = leading(sizes, limit)
    assert len(part) == len(sizes)
    assert math.prod(part) <= limit
    assert all(one <= whole for one, whole in zip(part, sizes, strict=True))


def test_what_is_expanded_beyond_memory_is_read_in_blocks():
    blocks = raw_blocks(read_own, info_of(torch.ones(1, 2).expand(1 << 40, 2)))
    assert len(next(blocks)) <= tensor_blocks._WINDOW


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(1000),
        torch.randn(100, 200).t(),
        torch.randn(300_000),
        torch.arange(100),
        torch.tensor([True, False, True]),
        torch.randn(50, dtype=torch.complex64),
        torch.randn(50, dtype=torch.complex64).conj(),
        torch.randn(64, dtype=torch.bfloat16),
    ],
    ids=lambda tensor: f"{tensor.dtype}-{list(tensor.shape)}",
)
def test_statistics_are_torchs(tensor):
    found = statistics(read_own, info_of(tensor))
    wide = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)
    assert found.counted == found.finite == tensor.numel()
    assert abs(found.mean - wide.mean().item()) < 1e-9
    assert math.isclose(found.deviation, wide.std().item(), rel_tol=1e-9)
    if not tensor.is_complex():
        assert (found.minimum, found.maximum) == (wide.min().item(), wide.max().item())


def test_statistics_of_the_first_elements():
    found = statistics(read_own, info_of(torch.arange(1000.0).reshape(100, 10)), limit=55)
    assert (found.counted, found.total, found.maximum) == (50, 1000, 49.0)


def test_statistics_of_values_that_overflow():
    found = statistics(read_own, info_of(torch.tensor([1e308, 1e308, -1e308], dtype=torch.float64)))
    assert (found.finite, found.maximum) == (3, 1e308)
