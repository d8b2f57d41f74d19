"""A recording changes nothing of what torch's own observers see: it only keeps torch from doing some work twice."""

from collections import Counter

import pytest
import torch
from torch.profiler import profile

import pyharness


@pytest.fixture
def step():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    inputs = torch.randn(2, 4)

    def run():
        model(inputs).sum().backward()

    run()
    return run


def profiled(run):
    with profile() as profiler:
        run()
    return Counter(event.name for event in profiler.events())


def test_a_profiler_sees_the_same_beside_a_recording(step):
    alone = profiled(step)
    assert alone["aten::mm"] > 0  # the backward's own arithmetic, too
    with pyharness.record() as recording:
        step()
        beside = profiled(step)
        step()
    assert beside == alone
    assert profiled(step) == alone
    runs = Counter(event.graph_task for event in recording.trace.nodes)
    assert len(runs) == 3
    assert len(set(runs.values())) == 1  # no run lost a node to the profiler


def test_a_thread_that_announces_nothing_stays_so_in_backward(step):
    torch._C._autograd._enable_record_function(False)  # noqa: FBT003
    try:
        with pyharness.record() as recording:
            step()
    finally:
        torch._C._autograd._enable_record_function(True)  # noqa: FBT003
    assert not recording.trace.ops
    assert recording.trace.nodes
    with pyharness.record() as recording:
        step()
    assert recording.trace.ops


def test_a_recording_that_begins_between_forward_and_backward_is_seen_in_it():
    """The callbacks that the backward restores are from before the recording."""
    seen = []
    weight = torch.ones(2, requires_grad=True)
    product = weight * 2
    product.register_hook(lambda gradient: seen.append(torch.relu(gradient)))
    with pyharness.record() as recording:
        product.sum().backward()
    assert len(seen) == 1
    assert "aten::sum" in {event.name for event in recording.trace.ops}
    assert "MulBackward0" in {event.name for event in recording.trace.nodes}
