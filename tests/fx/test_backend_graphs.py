"""torch.compile with the backend pyharness: results of eager, and files whose lines know the user's."""

import contextlib
import copy
import importlib
import subprocess
import sys
from pathlib import Path

import backend_models
import pytest
import torch
from backend_models import CASES, points

from kit.marks import line_of
from kit.names import qualified
from kit.paths import ROOT
from pyharness.fx import EditError, compile_report, reload
from pyharness.fx.code import files
from pyharness.model.places import OPS, find
from pyharness.model.source_map import map_of

pytestmark = pytest.mark.rotated_tests(turns=6)


@pytest.fixture(autouse=True)
def afresh():
    """Compile as in a new process; what was reported before is left out."""
    torch._dynamo.reset()
    before = len(compile_report().compilations)
    yield lambda: compile_report().compilations[before:]
    torch._dynamo.reset()


def run(function, calls):
    """Results, gradients and what was written to, of calls from equal starts."""
    found = []
    for number, call in enumerate(calls):
        torch.manual_seed(number)
        inputs = [x.clone() for x in call]
        result = function(*inputs)
        leaves = torch.utils._pytree.tree_leaves(result)
        wanted = [x for x in leaves if torch.is_tensor(x) and x.requires_grad]
        torch.autograd.backward(wanted, [torch.ones_like(x) for x in wanted])
        found += [x.detach() if torch.is_tensor(x) else x for x in leaves] + inputs
    return found


def state(model):
    if not isinstance(model, torch.nn.Module):
        return {}
    gradients = {f"{name}.grad": parameter.grad for name, parameter in model.named_parameters()}
    return {**model.state_dict(), **gradients}


def assert_same(mine, theirs):
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs, strict=True):
        if torch.is_tensor(one):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
        else:
            assert one == other


@pytest.mark.rotated
@pytest.mark.parametrize(("name", "grad"), [*((name, True) for name in CASES), ("buffers and dropout", False)])
def test_results_gradients_and_state_are_those_of_eager(name, grad, afresh):
    make, calls, options = CASES[name]
    torch.manual_seed(0)
    eager = make()
    compiled = copy.deepcopy(eager)
    with contextlib.nullcontext() if grad else torch.no_grad():
        expected = run(eager, calls)
        assert_same(run(torch.compile(compiled, backend="pyharness", **options), calls), expected)
    assert_same(list(state(compiled).values()), list(state(eager).values()))
    kinds = {graph.kind for compilation in afresh() for graph in compilation.graphs}
    assert kinds  # it was compiled at all
    assert ("backward" in kinds) == (grad and name not in {"no aot", "inputs written to", "either branch"})


def maps(compilation):
    return {graph.kind: map_of(graph.file) for graph in compilation.graphs}


def test_every_op_of_the_transformer_knows_its_module_and_the_users_line(afresh, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    transformer = importlib.import_module("transformer")
    torch.manual_seed(0)
    model = transformer.Transformer()
    batch = transformer.batch(torch.Generator().manual_seed(0))
    loss = torch.compile(model, backend="pyharness")(*batch)
    loss.backward()
    gradients = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    expected = model(*batch)
    expected.backward()
    assert torch.equal(loss, expected)
    assert all(torch.equal(mine, x.grad) for mine, x in zip(gradients, model.parameters(), strict=True))

    (compilation,) = afresh()
    found = maps(compilation)
    assert list(found) == ["captured", "forward", "backward"]
    modules = {path for path, _ in model.named_modules()}
    for source_map in found.values():
        rows = [row for row in source_map.lines if row.op in OPS]
        assert len(rows) > 50
        assert all(row.origin_file == transformer.__file__ and row.origin_line for row in rows)
        assert {row.module for row in rows} <= modules
    ops = {
        "forward": {"rms_norm": 4, "swiglu": 3, "gated_scan": 1, "softmax_cross_entropy": 1},
    }
    ops["backward"] = {f"{name}_backward": count for name, count in ops["forward"].items()}
    for kind, expected in ops.items():
        ours = [row.target for row in found[kind].lines if "torch.ops.pyharness" in row.target]
        assert {name.split(".")[3]: ours.count(name) for name in ours} == expected
    norm = {kind: find(found[kind], "blocks.1.norm") for kind in found}
    assert {row.origin_line for row in norm.values()} == {norm["captured"].origin_line}
    assert norm["backward"].target == "torch.ops.pyharness.rms_norm_backward.default"


def test_inputs_are_named_as_the_user_knows_them(afresh):
    model = backend_models.Counting()
    torch.compile(model, backend="pyharness")(points(3)).sum().backward()
    found = maps(afresh()[0])
    named = {kind: {row.node: row.target for row in found[kind].lines if row.op == "placeholder"} for kind in found}
    names = {"linear.weight", "linear.bias", "calls", "norm.weight", "norm.bias", "norm.running_mean", "x"}
    assert names < set(named["captured"].values())
    assert set(named["forward"].values()) == set(named["captured"].values())
    backward = set(named["backward"].values())
    assert {"x", "norm.weight", "gradient of output 0"} < {name.removeprefix("saved ") for name in backward}
    saved = [node for node, target in named["backward"].items() if target == f"saved {node}"]
    assert saved
    assert not any(find(found["backward"], node) for node in saved)  # the name is the forward node's
    assert all(find(found["forward"], node) for node in saved)


def test_files_say_what_they_are_and_earlier_ones_are_kept(afresh):
    model = backend_models.Broken()
    compiled = torch.compile(model, backend="pyharness", dynamic=False)
    for rows in (3, 5):
        compiled(points(rows).abs())
    written = [Path(graph.file) for compilation in afresh() for graph in compilation.graphs]
    assert len(set(written)) == len(written) == 16  # 2 sizes, 4 parts, captured and run
    assert all(path.exists() for path in written)
    stems = [path.stem.rpartition("_")[0] for path in written]
    printing, broken = (qualified(f"{name}.forward").replace(".", "_") for name in ("Printing", "Broken"))
    assert f"{printing}_1_0_forward" in stems
    assert f"{printing}_1_1_forward" in stems
    assert f"{broken}_{line_of('branch', backend_models.__file__)}_4_0_captured" in stems


def test_an_edited_file_runs(afresh):
    compiled = torch.compile(lambda x: x.relu() + 1, backend="pyharness")
    x = points(3)
    compiled(x)
    path = Path(afresh()[0].graphs[-1].file)
    path.write_text(path.read_text().replace("aten.relu", "aten.neg"))
    reload(path)
    assert torch.equal(compiled(x), 1 - x)
    with pytest.raises(EditError, match=f"Did you mean {path.name}"):
        reload(path.with_name(f"x{path.name}"))


def test_two_graphs_of_one_capture_have_files_of_their_own():
    """Branches are GraphModules inside the captured one."""
    torch.compile(backend_models.Branch(), backend="pyharness")(points(3))
    inside = [file for file in files.FILES.values() if "cond" in file.text or "sin" in file.text]
    names = {Path(file.path).stem.rpartition("_")[0] for file in inside}
    assert any("true_graph_0" in name for name in names), names


BOTH = """
import sys, torch
if {late}:
    import torch._dynamo
import pyharness.fx
compiled = torch.compile(torch.nn.Linear(4, 4), backend="pyharness")
compiled(torch.ones(2, 4)).sum().backward()
import os
if os.fork() == 0:
    with torch.no_grad():  # torch built for CUDA does not run autograd in the child of a process that has
        compiled(torch.ones(3, 4))
    report = pyharness.fx.compile_report()
    print([each.id for each in report.compilations], flush=True)
    os._exit(0)
os.wait()
print([each.id for each in pyharness.fx.compile_report().compilations])
"""


@pytest.mark.rotated
@pytest.mark.parametrize("late", [False, True])
def test_the_entry_point_is_found_and_a_forked_process_goes_on(late):
    code = BOTH.format(late=late)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == ["['0/0', '0/1']", "['0/0']"], done.stderr


def test_a_folder_that_cannot_be_written_is_said_and_the_program_runs(tmp_path, capfd, afresh):
    (tmp_path / "file").write_text("")
    below = {"folder": str(tmp_path / "file" / "below")}
    compiled = torch.compile(lambda x: x.sin() * 3, backend="pyharness", options=below)
    assert torch.equal(compiled(points(2)), points(2).sin() * 3)
    assert afresh()[0].graphs == ()
    assert "has no file" in capfd.readouterr().err


def test_where_the_private_folder_cannot_be_written_the_file_is_a_temporary_one(tmp_path, monkeypatch, capfd, afresh):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "file"))
    compiled = torch.compile(lambda x: x.sin() * 3, backend="pyharness")
    assert torch.equal(compiled(points(2)), points(2).sin() * 3)
    assert "/pyharness-" in afresh()[0].graphs[0].file
    assert capfd.readouterr().err == ""
