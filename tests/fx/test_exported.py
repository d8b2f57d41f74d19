"""Programs of torch.export run from files whose lines know the user's, too."""

import sys
from types import SimpleNamespace

import fx_models
import pytest
import torch

from kit.marks import line_of
from pyharness.fx import materialize, provenance
from pyharness.model.places import OPS, find


@pytest.fixture
def exported(model):
    return torch.export.export(model, (torch.ones(2, 4),), dynamic_shapes=({0: torch.export.Dim("rows")},))


def test_the_module_of_an_exported_program_runs_its_file(model, exported):
    made = materialize(exported)
    x = torch.rand(5, 4)
    result = made.module(x)
    assert torch.equal(result["out"], model(x)["out"])
    assert type(made.module).forward.__code__.co_filename == str(made.file)
    assert made.file.name.startswith("Model_exported_")
    rows = [row for row in made.source_map.lines if row.op in OPS and row.target.startswith("torch.ops.aten")]
    assert all(row.origin_file == fx_models.__file__ for row in rows)
    assert {row.module for row in rows} >= {"", "blocks.0.norm", "blocks.1.linear"}
    assert find(made.source_map, "blocks.1.norm").origin_line == line_of("norm", fx_models.__file__)
    assert find(made.source_map, "sum_1").origin_line == line_of("sum", fx_models.__file__)


def test_a_lowered_program_has_the_same_lines(exported, tmp_path):
    made = materialize(exported.run_decompositions(), tmp_path, name="lowered model")
    assert made.file.parent == tmp_path
    assert made.file.name.startswith("lowered_model_")
    assert find(made.source_map, "blocks.0.norm").origin_line == line_of("norm", fx_models.__file__)


def test_a_program_that_was_saved_and_loaded(exported, model, tmp_path):
    torch.export.save(exported, tmp_path / "model.pt2")
    made = materialize(torch.export.load(tmp_path / "model.pt2"))
    x = torch.rand(3, 4)
    assert torch.equal(made.module(x)["out"], model(x)["out"])
    assert find(made.source_map, "blocks.1.norm").origin_line == line_of("norm", fx_models.__file__)


def test_anything_else_is_refused(model):
    with pytest.raises(TypeError, match=r"GraphModule or a torch.export.ExportedProgram, not Model"):
        materialize(model)


@pytest.mark.parametrize(("path", "module"), [("_export_root.block.norm", "block.norm"), ("_export_root", "")])
def test_the_module_that_export_puts_around_a_model_is_left_out(path, module):
    node = torch.fx.Graph().placeholder("x")
    tracer = SimpleNamespace(scope=SimpleNamespace(module_path=path), graph=node.graph)
    node.op = "call_function"
    provenance.record(tracer, node, sys._getframe())
    assert provenance.of(node).module == module
