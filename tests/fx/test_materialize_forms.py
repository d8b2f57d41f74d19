"""The files of graphs in every form: nested, copied, lazy, with odd names, of other code generators."""

import copy
import pickle

import pytest
import torch
from maps import assert_map_matches
from torch import fx, nn

from kit import needs
from pyharness.fx import materialize

X = torch.ones(2, 4)


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


@needs.LINES_OF_A_COPY
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
