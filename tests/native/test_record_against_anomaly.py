"""Node by node: what a recording says of each node's making is what anomaly mode's traceback says."""

import importlib

import pytest
import torch
from forward_oracle import ForwardOracle, made_by_forward, stack
from torch import fx

import pyharness
from kit.paths import EXAMPLES
from pyharness.fx import Tracer, materialize


def resnet18(example):
    generator = torch.Generator().manual_seed(0)
    patterns = torch.randn(example.CLASSES, 3, example.SIZE, example.SIZE, generator=generator)
    images, labels = example.batch(generator, patterns)
    return example.ResNet18(), lambda model: torch.nn.functional.cross_entropy(model(images), labels)


def transformer(example):
    tokens, targets = example.batch(torch.Generator().manual_seed(0))
    return example.Transformer(), lambda model: model(tokens, targets)


def with_a_file(graph_module):
    materialize(graph_module)
    return graph_module


FORMS = {
    "eager": lambda model: model,
    "symbolic_trace": fx.symbolic_trace,
    "materialized": lambda model: with_a_file(fx.GraphModule(model, Tracer().trace(model))),
}


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=[resnet18, transformer], ids=lambda made: made.__name__)
def model_and_loss(request, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    torch.manual_seed(0)
    return request.param(importlib.import_module(request.param.__name__))


@pytest.mark.parametrize("form", FORMS)
def test_each_node_names_the_lines_and_the_module_that_made_it(model_and_loss, form):
    model, loss_of = model_and_loss
    model = FORMS[form](model)
    oracle = ForwardOracle(model)
    with pyharness.record() as recording:
        with oracle.watching():
            loss = loss_of(model)
        loss.backward()
    events = {event.sequence: event for event in recording.trace.nodes if event.sequence is not None}
    nodes = made_by_forward(loss)
    assert len(nodes) > 60
    assert events.keys() == {node._sequence_nr() for node in nodes}
    for node in nodes:
        event = events[node._sequence_nr()]
        assert event.name == node.name()
        assert [(call.file, call.line, last(call.function)) for call in event.stack] == stack(node)
        assert event.module == oracle.module(node)
        assert not event.approximate
        if form != "eager":
            fx_node = oracle.fx_node(node)
            assert next((call.node for call in event.stack if call.node), None) == (fx_node and fx_node.name)
    named = [event.module for event in events.values() if event.module]
    assert len(set(named)) > 10
    outside = [event.name for event in events.values() if event.module is None]
    assert outside == ([] if hasattr(model, "blocks") else ["NllLossBackward0", "LogSoftmaxBackward0"])


def last(qualified):
    return qualified.rpartition(".")[2]
