"""The examples train, and print the same losses in every run."""

import importlib
import os
import re
import subprocess
import sys

import pytest
import torch
from torch import fx

from kit.paths import ROOT, search_path
from pyharness.fx import Tracer, materialize
from pyharness.model.places import find


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.rotated
@pytest.mark.parametrize("example", ["transformer", "resnet18"])
def test_an_example_learns_and_repeats(example, capfd, monkeypatch):
    command = [sys.executable, str(ROOT / "examples" / f"{example}.py"), "--steps", "3"]
    environment = os.environ | {"PYTHONPATH": search_path(), "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, timeout=120, env=environment)
    first = capfd.readouterr().out
    monkeypatch.syspath_prepend(ROOT / "examples")
    importlib.import_module(example).train(3)
    assert capfd.readouterr().out == first
    losses = [float(loss) for loss in re.findall(r"^step \d loss (\d+\.\d{4})$", first, re.MULTILINE)]
    assert len(losses) == 3
    assert losses[-1] < losses[0]


def test_the_transformers_ops_are_found_by_module_path(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    transformer = importlib.import_module("transformer")
    model = transformer.Transformer()
    source_map = materialize(fx.GraphModule(model, Tracer().trace(model))).source_map
    for path, op in {
        "blocks.0.norm": "rms_norm",
        "blocks.1.mlp": "swiglu",
        "blocks.2.mixer": "gated_scan",
        "loss": "softmax_cross_entropy",
    }.items():
        entries = [
            entry for entry in source_map.lines if entry.module == path and "torch.ops.pyharness" in entry.target
        ]
        assert [entry.target for entry in entries] == [f"torch.ops.pyharness.{op}.default"]
        assert entries[0].origin_file == transformer.__file__
    for path in ("blocks.0.norm", "blocks.1.mlp"):
        assert find(source_map, path).target.startswith("torch.ops.pyharness.")
