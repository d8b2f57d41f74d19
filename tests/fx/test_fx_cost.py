"""The work grows with the nodes: counted, not timed."""

import sys

import pytest
import torch
from torch import fx, nn

from pyharness.fx import materialize, reload
from pyharness.model.source_map import map_of


def chain(size):
    graph = fx.Graph()
    node = graph.placeholder("x")
    for index in range(size):
        node = graph.call_function((torch.relu, torch.tanh)[index % 2], (node,))
        node.meta["pyharness"] = (f"blocks.{index // 10}", "net.py", index)
    graph.output(node)
    return fx.GraphModule(nn.Module(), graph)


def calls(work):
    count = 0

    def counted(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def materialized(size):
    module = chain(size)
    return calls(lambda: materialize(module))


def reloaded(size):
    module = chain(size)
    made = materialize(module)
    made.file.write_text(made.file.read_text().replace("    return", "    moved = 1\n\n    return"))
    return calls(lambda: reload(module))


@pytest.mark.rotated
@pytest.mark.parametrize("work", [materialized, reloaded])
def test_ten_times_the_nodes_are_ten_times_the_calls(work):
    work(10)  # imports and caches
    assert work(10_000) / work(1_000) == pytest.approx(10, rel=0.1)


def test_a_large_map_answers_every_line():
    module = chain(10_000)
    made = materialize(module)
    source_map = map_of(str(made.file))
    assert [source_map.at(line).line for line in range(5, 10_006)] == list(range(5, 10_006))
