"""Faults planted in lists of passes over a convolutional and an attention model: each is found, and shrunk."""

import bad_passes
import good_passes
import pytest
import torch
from bisect_models import MODELS

from pyharness.fx import bisect


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=list(MODELS))
def model(request):
    torch.manual_seed(0)
    return MODELS[request.param]()


@pytest.mark.rotated(turns=11)
@pytest.mark.parametrize("fault", list(bad_passes.FAULTS), ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found_and_shrunk(model, fault):
    module, inputs = model
    before = bad_passes.FAULTS[fault]
    passes = [*good_passes.GOOD[:before], fault, *good_passes.GOOD[before:]]
    bad = bisect(module, passes, inputs, sweep=before < 5, script=False)
    assert (bad.name, bad.index, bad.total) == (fault.__name__, before, 13)
    assert bad.calls > 40
    by_chance = fault is bad_passes.merge_equal  # what fails only at times is cut less
    assert 1 <= bad.shrunk.calls <= (8 if by_chance else 4)
    assert bad.failures == bad.samples or by_chance
    assert bool(bad.change) == (fault is not bad_passes.stale_parameter)
