"""What stays of a capture when the program raises, and that no hook does."""

import pytest
import torch
from inspect_models import Catches, Raises, hooks_of

from pyharness.inspect import capture

X = torch.randn(2, 4, generator=torch.Generator().manual_seed(0))


def test_what_was_captured_before_an_exception_stays_and_the_hooks_go():
    model = Raises()
    captured = capture(model)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), captured:
        model(X)
    assert [path for path, _ in captured] == ["before", "inner.0"]
    assert captured.raised.paths == ("", "inner", "inner.1")
    assert "shapes cannot be multiplied" in captured.raised.error
    assert hooks_of(model) == 0


def test_the_inputs_of_the_call_that_raised_stay():
    model = Raises()
    captured = capture(model, inputs=True)
    with pytest.raises(RuntimeError), captured:
        model(X)
    failed = [record for record in captured.records if not record.finished]
    assert [record.path for record in failed] == ["inner.1", "inner", ""]
    assert failed[0].inputs[0][0].shape == (2, 4)


@pytest.mark.parametrize("inputs", [False, True])
def test_a_program_that_goes_on_after_an_exception_is_captured_on(inputs):
    model = Catches()
    with capture(model, inputs=inputs) as captured:
        model(X)
        model(X)
    assert captured.raised is None
    finished = [record.path for record in captured.records if record.finished]
    assert finished == ["attempt.before", "attempt.inner.0", "fallback", ""] * 2
    assert [record.path for record in captured.records if not record.finished] == (
        ["attempt.inner.1", "attempt.inner", "attempt"] * 2 if inputs else []
    )


def test_hooks_go_where_attaching_them_fails(deep, monkeypatch):
    def refuse(*_args, **_options):
        raise RuntimeError("no hooks here")

    monkeypatch.setattr(deep[1][1], "register_forward_hook", refuse)
    with pytest.raises(RuntimeError, match="no hooks here"), capture(deep, statistics=True):
        pass
    assert hooks_of(deep) == 0


def test_quick_hooks_go_where_attaching_them_fails(deep, monkeypatch):
    monkeypatch.setattr(deep[1][1], "_forward_hooks", None)
    with pytest.raises(TypeError), capture(deep):
        pass
    monkeypatch.undo()
    assert hooks_of(deep) == 0
