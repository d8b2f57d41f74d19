"""The file of a generated forward: its text, its name, its map, and what else must go on working."""

import copy
import inspect
import json
import linecache
import os
import pickle
import stat
import threading
import traceback

import pytest
import torch
from torch import fx, nn

from pyharness.fx import MaterializeError, materialize
from pyharness.model.source_map import map_of, place_of

X = torch.ones(2, 4)


def assert_map_matches(made):
    """Every node's line holds the statement that assigns it."""
    lines = made.file.read_text().split("\n")
    for entry in made.source_map.lines:
        text = lines[entry.line - 1]
        if entry.op == "output":
            assert text.lstrip().startswith("return")
        elif entry.op != "placeholder":
            assert f"{entry.node} = " in text or f"{entry.node} : " in text, (entry, text)


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


class Outer(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.others = nn.ModuleList([copy.deepcopy(inner)])

    def forward(self, x):
        return self.others[0](self.inner(x)["out"].unsqueeze(-1) * x)


class Leaves(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, fx.GraphModule) or super().is_leaf_module(m, module_qualified_name)


def test_nested_graph_modules_have_files_too(model):
    inner = fx.symbolic_trace(model)
    root = Outer(inner)
    module = fx.GraphModule(root, Leaves().trace(root))
    made = materialize(module)
    assert set(made.nested) == {"inner", "others.0"}
    for path, each in made.nested.items():
        assert type(module.get_submodule(path)).forward.__code__.co_filename == str(each.file)
        assert_map_matches(each)
    assert [entry.module for entry in made.source_map.lines if entry.op == "call_module"] == ["inner", "others.0"]


def test_a_copy_and_a_pickle_work(model):
    module = fx.symbolic_trace(model)
    materialize(module)
    for twin in (copy.deepcopy(module), copy.copy(module), pickle.loads(pickle.dumps(module))):  # noqa: S301
        assert torch.equal(twin(X)["out"], module(X)["out"])
        assert twin.code == module.code
        assert_map_matches(materialize(twin))


def test_a_copy_keeps_the_provenance(model, line_of):
    module = fx.GraphModule(model, traced(model))
    made = materialize(copy.deepcopy(module))
    total = next(entry for entry in made.source_map.lines if entry.node == "sum_1")
    assert (total.origin_file, total.origin_line) == line_of("sum")


def traced(root):
    from pyharness.fx import Tracer

    return Tracer().trace(root)


def test_a_lazy_graph_module(model):
    from torch.fx._lazy_graph_module import _LazyGraphModule

    module = _LazyGraphModule(model, fx.Tracer().trace(model))
    made = materialize(module)
    module.recompile()
    assert torch.equal(module(X)["out"], model(X)["out"])
    assert type(module).forward.__code__.co_filename == str(made.file)


# Names that torch.fx itself can compile; a class may be called anything.
WEIRD = [("a/b", "../../up"), ("-", "/etc/passwd"), ("naïve ✓", "naïve ✓\n"), ("x" * 1000, "y" * 1000), ("print", "")]


@pytest.mark.parametrize(("name", "class_name"), WEIRD, ids=range(len(WEIRD)))
def test_names_that_are_no_file_names(name, class_name, home):
    class Root(nn.Module):
        def forward(self, x):
            return getattr(self, name)(x) + 1

    root = Root()
    root.add_module(name, nn.Linear(4, 4))
    module = fx.GraphModule(root, fx.Tracer().trace(root), class_name=class_name)
    made = materialize(module)
    module(X)
    assert made.file.parent == home / "generated"
    assert len(made.file.name) < 120
    assert_map_matches(made)
    assert made.source_map.lines[1].module == name
    assert made.source_map.graph == class_name


def test_a_node_with_a_long_name():
    graph = fx.Graph()
    x = graph.placeholder("x")
    node = graph.create_node("call_function", torch.relu, (x,), name="n" * 1000)
    graph.output(node)
    made = materialize(fx.GraphModule(nn.Module(), graph))
    assert made.source_map.lines[1].node == "n" * 1000
    assert_map_matches(made)


def test_a_node_named_as_a_global():
    graph = fx.Graph()
    x = graph.placeholder("x")
    node = graph.call_function(outside, (x,))
    node.name = node._name = outside.__module__.replace(".", "_") + "_outside"
    graph.output(graph.call_function(torch.neg, (node,)))
    made = materialize(fx.GraphModule(nn.Module(), graph))
    assert [entry.line for entry in made.source_map.lines if entry.op != "placeholder"] == [5, 6, 7]


def outside(x):
    return x


def test_no_nodes_at_all():
    assert materialize(fx.GraphModule(nn.Module(), fx.Graph())).source_map.lines == ()


@pytest.mark.parametrize("codegen", ["pytree", "boxed"])
def test_other_code_generators(codegen):
    if codegen == "pytree":
        module = fx.symbolic_trace(lambda pair: pair[0] + pair[1], concrete_args={"pair": (fx.PH, fx.PH)})
        arguments = ((X, X),)
    else:
        module = fx.symbolic_trace(lambda a, b: a + b)
        module.graph.set_codegen(fx.graph._BoxedCodeGen())
        arguments = ([X, X],)
    made = materialize(module)
    lines = made.file.read_text().split("\n")
    assert_map_matches(made)
    bound = [lines[entry.line - 1] for entry in made.source_map.lines if entry.op == "placeholder"]
    assert all(entry.node in line for entry, line in zip(made.source_map.lines, bound, strict=False))
    assert torch.equal(module(*arguments), X + X)


class Verbose(fx.CodeGen):
    """A generator that writes comments and annotations between statements."""

    def _gen_python_code(self, *args, **kwargs):
        return super()._gen_python_code(*args, **{**kwargs, "verbose": True, "include_stride": True})


def test_comments_and_annotations_between_statements(model):
    module = fx.GraphModule(model, fx.Tracer().trace(model))
    for node in module.graph.nodes:
        node.meta["val"] = X
    module.graph.set_codegen(Verbose())
    made = materialize(module)
    assert "# No stacktrace found" in made.file.read_text()
    lines = made.file.read_text().split("\n")
    named = [entry for entry in made.source_map.lines if entry.op not in {"placeholder", "output"}]
    assert all(lines[entry.line - 1].startswith(f"    {entry.node}: ") for entry in named)


@pytest.mark.parametrize("keep_marks", [True, False])
def test_a_body_transformer(model, keep_marks):
    def transform(body):
        kept = [line for line in body if keep_marks or "COUNTER" not in line]
        return ["\n", "\n", "before = (\n 1,\n)\n", *kept]

    module = fx.symbolic_trace(model)
    with module.graph.on_generate_code(lambda _: transform):
        made = materialize(module)
    assert_map_matches(made)
    assert {entry.node for entry in made.source_map.lines} == {node.name for node in module.graph.nodes}


def test_metadata_in_the_text(model, monkeypatch):
    monkeypatch.setenv("FX_GRAPH_SHOW_META", "1")
    module = fx.symbolic_trace(model)
    for node in module.graph.nodes:
        node.meta["note"] = f"{node.name} = 1\n  {node.name} = 2"
    made = materialize(module)
    assert '"""' in made.file.read_text()
    assert_map_matches(made)


def test_the_profilers_own_file_name(model):
    with fx.experimental._config.patch(enrich_profiler_metadata=True):  # type: ignore[attr-defined]
        module = fx.symbolic_trace(model)
        made = materialize(module)
    assert type(module).forward.__code__.co_filename == str(made.file)
    assert_map_matches(made)
    module(X)


def test_a_torch_that_never_asks_for_a_file_name(model, monkeypatch):
    inner = fx.graph_module._forward_from_src
    monkeypatch.setattr(fx.graph_module, "_forward_from_src", lambda src, names, _fields=None: inner(src, names))
    monkeypatch.setattr(fx.GraphModule, "_lineno_map", None, raising=False)
    module = fx.symbolic_trace(model)
    made = materialize(module)
    assert type(module).forward.__code__.co_filename == str(made.file)
    assert_map_matches(made)
    assert torch.equal(module(X)["out"], model(X)["out"])


def test_statements_of_several_lines():
    class Spread(fx.CodeGen):
        def generate_output(self, output_args, *, repr_fn):
            return f"return (\n{repr_fn(output_args)},\n)[0]"

    module = fx.symbolic_trace(lambda x: x + 1)
    module.graph.set_codegen(Spread())
    made = materialize(module)
    output = made.source_map.lines[-1]
    assert (output.line, output.last_line) == (6, 8)
    assert made.source_map.at(7) is output
    assert module(X).equal(X + 1)


def test_inplace_operators_and_attributes():
    import operator

    graph = fx.Graph()
    x = graph.placeholder("x")
    added = graph.call_function(operator.iadd, (x, 1))
    shape = graph.call_function(getattr, (added, "shape"))
    graph.output((added, shape))
    made = materialize(fx.GraphModule(nn.Module(), graph))
    assert_map_matches(made)
    assert [entry.target for entry in made.source_map.lines][1:3] == ["operator.iadd", "getattr"]


def test_wrapped_functions_and_annotations():
    graph = fx.Graph()
    x = graph.placeholder("x", type_expr=torch.Tensor)
    node = graph.call_function(outside, (x,), type_expr=torch.Tensor)
    node.meta["is_wrapped"] = True
    graph.output(node, type_expr=list[torch.Tensor])
    made = materialize(fx.GraphModule(nn.Module(), graph))
    assert_map_matches(made)


def test_the_operator_of_the_dispatcher_is_named_in_full():
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(torch.ops.aten.relu.default, (x,)))
    assert materialize(fx.GraphModule(nn.Module(), graph)).source_map.lines[1].target == "torch.ops.aten.relu.default"


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
