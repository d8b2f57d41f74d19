"""What find_nan does with what it found: an error where the program is, a report, a stop."""

import gc
import sys
import weakref

import nan_sources
import pytest
import torch
from nan_search import at, origin
from nan_sources import Blocks, Logarithm, Root, line_of

import pyharness
from pyharness.model.errors import HarnessError
from pyharness.model.results.finding import NonFiniteError


def test_raised_at_the_line_of_a_call():
    with pytest.raises(NonFiniteError) as caught, pyharness.find_nan():
        pytest.fail(f"went on: {Blocks(Logarithm())(torch.tensor([-1.0]))}")
    assert (str(caught.traceback[-1].path), caught.traceback[-1].lineno + 1) == at("log")
    assert caught.value.finding.name == "aten::log"
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, HarnessError)


def test_raised_from_backward():
    x = torch.tensor([1.0, 0.0], requires_grad=True)
    with pytest.raises(NonFiniteError, match="SqrtBackward0"), pyharness.find_nan(values=("nan",)):
        pytest.fail(f"went on: {Root()(x).sum().backward()}")
    assert x.grad is None


def test_raised_at_the_line_of_an_operator():
    with pytest.raises(NonFiniteError, match="aten::div") as caught, pyharness.find_nan():
        nan_sources.operator()
    assert (str(caught.traceback[-1].path), caught.traceback[-1].lineno + 1) == at("operator")


def test_raised_in_the_last_line_of_the_block():
    x = torch.zeros(1)
    with pytest.raises(NonFiniteError, match="aten::div"), pyharness.find_nan():
        x / x


@pytest.mark.parametrize("how", ["returned", "several_lines", "handled", "in_a_generator", "nested_with"])
def test_raised_where_the_line_is_the_last_of_a_block(how):
    """Python looks for handlers by the next instruction, which may be outside of the block."""
    with pytest.raises(NonFiniteError, match="aten::div") as caught:
        getattr(nan_sources, f"last_{how}")()
    assert origin(caught.value.finding) == at(f"last-{how}")
    blamed_elsewhere = {"returned"} | ({"several_lines"} if sys.version_info < (3, 11) else set())
    if how not in blamed_elsewhere:  # on the block, and on the next line
        assert at(f"last-{how}") in [(str(entry.path), entry.lineno + 1) for entry in caught.traceback]
    with pyharness.find_nan(action="report") as search:  # the one before has ended
        torch.ones(1).log()
    assert search.finding is None


def test_a_block_within_is_left_in_order():
    """Its end would be lost if the error came while that runs."""
    x = torch.zeros(3)
    with pytest.raises(NonFiniteError), pyharness.find_nan(), torch.no_grad():
        x / x
    assert torch.is_grad_enabled()


def test_a_trace_function_stays():
    lines = []

    def trace(frame, event, _argument):
        lines.append((event, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with pytest.raises(NonFiniteError), pyharness.find_nan():
            nan_sources.operator()
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)
    assert ("exception", line_of("operator")) in lines


def test_a_thread_that_found_it_raises_and_so_does_the_search():
    errors = []
    with pytest.raises(NonFiniteError, match="aten::log"), pyharness.find_nan():
        nan_sources.in_worker(errors)
    assert [type(error).__name__ for error in errors] == ["NonFiniteError"]


def test_an_error_of_the_programs_stays_its_own():
    with pytest.raises(KeyError), pyharness.find_nan(action="report"):
        {}[torch.tensor([-1.0]).log()]


def test_reported_to_stderr(capfd):
    with pyharness.find_nan(action="report"):
        torch.tensor([-1.0]).log()
        torch.tensor([-1.0]).sqrt()
    report = capfd.readouterr().err
    assert report.count("The first NaN was made by aten::log") == 1
    assert "sqrt" not in report


def test_a_stop_without_a_debugger_is_told(capfd, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pyharness.find_nan(action="stop"):
        nan_sources.logarithm(torch.tensor([-1.0]))
    report, _, told = capfd.readouterr().err.rpartition("\npyharness: ")
    assert "The first NaN was made by aten::log" in report
    assert f"nan_sources.py:{line_of('plain-log')} in logarithm" in told


def test_one_search_at_a_time_and_then_another():
    with pyharness.find_nan():
        with pytest.raises(HarnessError, match="already"), pyharness.find_nan():
            pass
        torch.ones(1).log()
    with pyharness.find_nan(action="report") as search:
        pass
    assert search.finding is None


def test_nothing_is_kept_alive():
    x = torch.tensor([-1.0], requires_grad=True)
    with pyharness.find_nan(action=lambda _: None) as search:
        y = x.log()
        y.backward()
    gone = weakref.ref(y)
    del y
    gc.collect()
    assert search.finding is not None
    assert gone() is None
