"""Tests that ask for what the plugin looks at."""

import operator

import pytest
import torch
from torch import nn


class Doubles(nn.Module):
    def forward(self, x):
        return torch.relu(x * 2)


def as_clamp(module):
    for node in module.graph.find_nodes(op="call_function", target=torch.relu):
        node.target, node.kwargs = torch.clamp, {"min": 0.0}


def adds(module):
    for node in module.graph.find_nodes(op="call_function", target=operator.mul):
        node.target = torch.add


def makes_a_bad_value():
    return torch.zeros(2).log()  # @makes


@pytest.mark.pyharness(nan="fail")
def test_marked():
    makes_a_bad_value()


def test_with_fixture(ph_nan):
    makes_a_bad_value()


def test_records(ph_record):
    trace = ph_record(lambda: Doubles()(torch.ones(3)))
    names = [op.name for op in trace.ops]
    assert "aten::mul" in names
    assert "aten::relu" in names


def test_verifies(ph_verify):
    assert ph_verify(Doubles(), as_clamp, torch.randn(3))


def test_finds_the_wrong_pass(ph_verify):
    ph_verify(Doubles(), adds, torch.randn(3))


@pytest.mark.pyharness(nann="fail")
def test_asks_for_what_is_not_there():
    pass
