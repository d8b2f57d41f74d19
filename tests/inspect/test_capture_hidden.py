"""Modules that run where Python's hooks are not called: said clearly, or run as they were written."""

import sys

import pytest
import torch
from torch import fx, nn

from pyharness.inspect import capture
from pyharness.model.errors import UsageError

X = torch.randn(2, 4, generator=torch.Generator().manual_seed(0))
PATHS = {"", "0", "1"}


@pytest.fixture
def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 4), nn.Tanh())


@pytest.fixture
def fresh_dynamo():
    yield
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()


@pytest.mark.usefixtures("fresh_dynamo")
def test_a_compiled_model_shows_its_outside_and_says_why_not_more(model):
    compiled = torch.compile(model, backend="eager")
    with capture(compiled) as captured:
        result = compiled(X)
    assert [path for path, _ in captured] == [""]
    assert torch.equal(captured[""].tensor, result)
    assert set(captured.unseen) == {"_orig_mod", "_orig_mod.0", "_orig_mod.1"}
    assert any("compiled by torch.compile" in line.text for line in captured.lines())
    with pytest.raises(UsageError, match=r"compiled by torch\.compile"):
        _ = captured["_orig_mod.0"]


@pytest.mark.usefixtures("fresh_dynamo")
def test_asking_for_the_inside_of_a_compiled_model_only_is_refused(model):
    with pytest.raises(UsageError, match="eager=True"):
        capture(torch.compile(model, backend="eager"), pattern="*.0")
    model.compile(backend="eager")
    with pytest.raises(UsageError, match=r"compiled by torch\.compile"):
        capture(model)


@pytest.mark.usefixtures("fresh_dynamo")
def test_a_compiled_model_can_be_run_as_it_was_written(model):
    compiled = torch.compile(model, backend="eager")
    expected = compiled(X)
    with capture(compiled, eager=True) as captured:
        compiled(X)
    assert {path for path, _ in captured} == {"", "_orig_mod", "_orig_mod.0", "_orig_mod.1"}
    assert torch.equal(captured["_orig_mod"].tensor, expected)


@pytest.mark.usefixtures("fresh_dynamo")
def test_what_a_function_compiles_meanwhile_has_no_hook_in_it_afterwards(model):
    step = torch.compile(lambda x: model(x) + 0, backend="eager")
    with capture(model) as captured:
        step(X)
        model(X)
    assert {path for path, _ in captured} == PATHS, "of the call that was not compiled"
    step(X)
    step(X)
    assert len(captured) == len(PATHS)


@pytest.mark.usefixtures("fresh_dynamo")
def test_what_a_function_compiled_before_is_told_as_not_called(model):
    step = torch.compile(lambda x: model(x) + 0, backend="eager")
    step(X)
    with capture(model) as captured:
        step(X)
    assert set(captured.not_called) == PATHS
    with pytest.raises(UsageError, match="eager=True"):
        _ = captured["0"]
    with capture(model, eager=True) as captured:
        step(X)
    assert {path for path, _ in captured} == PATHS


def test_a_scripted_module_is_refused_and_skipped_in_a_model(model):
    scripted = torch.jit.script(model)
    with pytest.raises(UsageError, match="scripted module"):
        capture(scripted)
    around = nn.Sequential(nn.Linear(4, 4), scripted)
    with capture(around) as captured:
        around(X)
    assert {path for path, _ in captured} == {"", "0"}
    assert set(captured.unseen) == {"1", "1.0", "1.1"}
    assert any("scripted module" in line.text for line in captured.tree())


def test_a_traced_module_shows_its_outside(model):
    traced = torch.jit.trace(model, X)
    with capture(traced) as captured:
        traced(X)
    assert [path for path, _ in captured] == [""]
    assert set(captured.unseen) == {"0", "1"}


def test_a_graph_module_calls_its_modules(model):
    with capture(fx.symbolic_trace(nn.Sequential(model, nn.Tanh()))) as captured:
        captured.model(X)
    assert {path for path, _ in captured} == {"", "0.0", "0.1", "1"}
    assert captured.not_called == [], "what symbolic_trace looks through is a holder without forward"
