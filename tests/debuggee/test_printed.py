"""Tensors that torch itself cannot print: what an expression at a stop says of them."""

import sys

import torch

from pyharness.debuggee.pydevd.steps import stepping
from pyharness.debuggee.shown import tensor as shown
from pyharness.protocol.agent import Evaluate


def said_of(expression, frame):
    return stepping.evaluate(Evaluate(expression, frame.f_code.co_filename, frame.f_lineno)).text


def test_memory_that_was_given_back():
    """torch's own ``repr`` crashes the program."""
    given_back = torch.arange(4.0)
    given_back.untyped_storage().resize_(0)
    whole = torch.arange(2)
    frame = sys._getframe()
    assert said_of("given_back", frame) == "Tensor float32 [4] cpu <it has no storage>"
    assert said_of("whole", frame) == repr(whole)


def test_a_parameter_of_a_lazy_module():
    weight = torch.nn.LazyLinear(3).weight
    assert shown.text(weight) == "Tensor uninitialized (its lazy module was not called yet)"
    assert list(shown.children(weight)) == []
