"""The file of a generated forward: its text, its name, its map, and what else must go on working."""

import inspect
import json
import linecache
import os
import stat
import threading
import traceback

import pytest
import torch
from maps import assert_map_matches
from torch import fx

from pyharness.fx import MaterializeError, materialize
from pyharness.model.source_map import map_of, place_of

X = torch.ones(2, 4)


def test_the_file_is_what_runs(model):
    module = fx.symbolic_trace(model)
    made = materialize(module)
    assert made.file.read_text() == module.code
    assert type(module).forward.__code__.co_filename == str(made.file)
    assert map_of(str(made.file)) == made.source_map
    assert_map_matches(made)
    expected, got = model(X), module(X)
    assert torch.equal(got["out"], expected["out"])


def named_as_in_torch_2_8(self, src, _globals, co_fields=None):
    """``_EvalCacheLoader.cache`` up to torch 2.9, as far as it names the code."""
    key = self._get_key()
    if co_fields:
        key += f" from {co_fields['co_filename']}:{co_fields['co_firstlineno']} in {co_fields['co_name']}"
    self.eval_cache[key] = src
    return key


def test_the_file_is_what_runs_where_torch_makes_its_name_a_part_of_another(model, monkeypatch):
    monkeypatch.setattr(fx.graph_module._EvalCacheLoader, "cache", named_as_in_torch_2_8)
    module = fx.symbolic_trace(model)
    made = materialize(module)
    assert type(module).forward.__code__.co_filename == str(made.file)
    assert_map_matches(made)
    expected, got = model(X), module(X)
    assert torch.equal(got["out"], expected["out"])
    module.graph.lint()
    module.recompile()
    assert module(X)["out"].shape == got["out"].shape


def test_every_node_has_its_line(model):
    module = fx.symbolic_trace(model)
    made = materialize(module)
    assert {entry.node for entry in made.source_map.lines} == {node.name for node in module.graph.nodes}


def test_getsource_and_code_agree(model):
    module = fx.symbolic_trace(model)
    materialize(module)
    assert inspect.getsource(type(module).forward).rstrip() == module.code.strip()


def test_a_traceback_shows_the_generated_line(model):
    module = fx.symbolic_trace(model)
    made = materialize(module)
    with pytest.raises(RuntimeError) as caught:
        module(torch.ones(2, 5))
    frames = [frame for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == str(made.file)]
    assert len(frames) == 1
    place = place_of(frames[0].filename, frames[0].lineno)
    assert place.module == "blocks.0.norm"
    assert frames[0].line.startswith(f"{place.node} = ")


def test_only_the_owner_reads_the_files(model):
    made = materialize(fx.symbolic_trace(model))
    assert [stat.S_IMODE(path.stat().st_mode) for path in (made.file, made.map_file)] == [0o600, 0o600]
    assert stat.S_IMODE(made.file.parent.stat().st_mode) == 0o700


def test_the_same_code_has_the_same_file_and_is_written_once(model):
    first = materialize(fx.symbolic_trace(model))
    before = [path.stat().st_mtime_ns for path in (first.file, first.map_file)]
    second = materialize(fx.symbolic_trace(model))
    assert second.file == first.file
    assert [path.stat().st_mtime_ns for path in (first.file, first.map_file)] == before
    assert len(list(first.file.parent.iterdir())) == 2


def test_code_that_runs_again_stays_young(model):
    made = materialize(fx.symbolic_trace(model))
    for path in (made.file, made.map_file):
        os.utime(path, (0, 0))
    materialize(fx.symbolic_trace(model))
    assert all(path.stat().st_mtime > 0 for path in (made.file, made.map_file))


def test_a_folder_of_ones_own(model, tmp_path):
    made = materialize(fx.symbolic_trace(model), tmp_path / "a" / "b")
    assert made.file.parent == tmp_path / "a" / "b"


def test_recompile_gives_the_new_code_a_file(model):
    module = fx.symbolic_trace(model)
    first = materialize(module)
    total = next(node for node in module.graph.nodes if node.name == "sum_1")
    with module.graph.inserting_after(total):
        added = module.graph.call_function(torch.neg, (total,))
    total.replace_all_uses_with(added, delete_user_cb=lambda user: user is not added)
    module.recompile()
    file = type(module).forward.__code__.co_filename
    assert file != str(first.file)
    assert first.file.exists()
    source_map = map_of(file)
    assert next(entry for entry in source_map.lines if entry.node == "neg").target == "torch.neg"
    assert inspect.getsource(type(module).forward).strip() == module.code.strip()


def test_an_edited_file_of_the_same_name_is_kept_aside(model):
    made = materialize(fx.symbolic_trace(model))
    made.file.write_text("my notes")
    again = materialize(fx.symbolic_trace(model))
    assert again.file == made.file
    assert made.file.read_text() != "my notes"
    assert made.file.with_suffix(".edited.py").read_text() == "my notes"


def test_a_folder_that_cannot_be_made(model, tmp_path):
    (tmp_path / "file").write_text("")
    module = fx.symbolic_trace(model)
    with pytest.raises(MaterializeError, match="has no file"):
        materialize(module, tmp_path / "file" / "below")
    assert torch.equal(module(X)["out"], model(X)["out"])


def test_something_else_than_a_graph_module(model):
    with pytest.raises(TypeError, match="not Model"):
        materialize(model)


def test_many_threads_at_once(model):
    modules = [fx.symbolic_trace(model) for _ in range(8)]
    made, start = [], threading.Barrier(8)

    def work(module):
        start.wait()
        made.append(materialize(module))

    threads = [threading.Thread(target=work, args=(module,)) for module in modules]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert len({each.file for each in made}) == 1
    assert sorted(path.name for path in made[0].file.parent.iterdir()) == [made[0].file.name, made[0].map_file.name]


def test_the_map_file_is_json_with_a_version(model):
    made = materialize(fx.symbolic_trace(model))
    data = json.loads(made.map_file.read_text())
    assert data["version"] == 1
    assert data["file"] == str(made.file)
    assert data["lines"][0]["node"] == made.source_map.lines[0].node


def test_linecache_notices_an_edit(model):
    made = materialize(fx.symbolic_trace(model))
    assert "def forward" in linecache.getline(str(made.file), 4)
    made.file.write_text("# edited\n")
    linecache.checkcache(str(made.file))
    assert linecache.getline(str(made.file), 1) == "# edited\n"
