"""A private state folder, a model, and its marked lines, for the tests of generated code."""

import fx_models
import pytest
import torch

from kit import marks


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    path = tmp_path / "home"
    monkeypatch.setenv("PYHARNESS_HOME", str(path))
    return path


@pytest.fixture
def model():
    torch.manual_seed(0)
    return fx_models.Model()


@pytest.fixture
def line_of():
    return lambda name: (fx_models.__file__, marks.line_of(name, fx_models.__file__))
