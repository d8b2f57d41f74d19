"""Exported packages, imported in fresh processes: equal outputs, and code to read and edit."""

import ast
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import odd_graphs
import pytest
import torch
from torch import fx, nn

from kit.paths import ROOT, search_path
from pyharness.fx import ExportError, Tracer, export
from pyharness.model.errors import UsageError

pytestmark = pytest.mark.rotated_tests(turns=5)


IMPORTED = """
import importlib, json, sys
import torch
from torch.utils._pytree import tree_leaves
report = {}
def same(a, b):  # kernels of another process may add up in another order
    if not isinstance(a, torch.Tensor):
        return a == b
    return a.dtype == b.dtype and torch.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
for name in sys.argv[2:]:
    model = importlib.import_module(name).load()
    inputs, wanted, state = torch.load(f"{sys.argv[1]}/{name}.pt", weights_only=True)
    mine = model.state_dict()
    stored = list(mine) == list(state) and all(torch.equal(mine[key], state[key]) for key in state)
    torch.manual_seed(1)
    found = tree_leaves(model(*inputs))
    both = zip(tree_leaves(wanted), found, strict=True)
    report[name] = {
        "equal": [same(a, b) for a, b in both],
        "state": stored,
        "strides": all(mine[key].stride() == state[key].stride() for key in state),
        "training": {path: each.training for path, each in model.named_modules()},
        "learns": {path: each.requires_grad for path, each in model.named_parameters()},
        "parameters": len(list(model.parameters())),
        "file": type(model).__module__,
    }
report["modules"] = [name for name in sys.modules if name.startswith("pyharness")]
print(json.dumps(report))
"""


def traced(name):
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        example = __import__(name)
    finally:
        sys.path.pop(0)
    torch.manual_seed(0)
    if name == "resnet18":
        return fx.GraphModule(model := example.ResNet18(), Tracer().trace(model), "ResNet18"), (
            torch.randn(2, 3, 32, 32),
        )
    model = example.Transformer()
    return fx.symbolic_trace(model), example.batch(torch.Generator().manual_seed(0))


def cases():
    torch.manual_seed(0)
    yield "resnet_package", *traced("resnet18")
    yield "transformer_package", *traced("transformer")
    yield "odd_package", odd_graphs.odd(), (torch.randn(2, 5, 4), 0.5)
    yield "nested_package", odd_graphs.nested(), (torch.randn(2, 4),)
    yield "exported_package", odd_graphs.exported(), (torch.randn(2, 4),)


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """All of them exported here and run there: the folder, the graphs, and what the fresh process found."""
    folder = tmp_path_factory.mktemp("packages")
    graphs = {}
    for name, module, inputs in cases():
        graphs[name] = module
        export(module, folder / name)
        state = {key: value.clone() for key, value in module.state_dict().items()}  # a batch norm learns by running
        torch.manual_seed(1)
        with torch.no_grad():
            torch.save((inputs, module(*inputs), state), folder / f"{name}.pt")
    path = search_path(folder, Path(__file__).parent)
    command = [sys.executable, "-c", f"import torch; torch.set_grad_enabled(False)\n{IMPORTED}", str(folder), *graphs]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder, graphs, json.loads(done.stdout)


NAMES = ["resnet_package", "transformer_package", "odd_package", "nested_package", "exported_package"]


@pytest.mark.rotated
@pytest.mark.parametrize("name", NAMES)
def test_outputs_state_and_flags_are_what_they_were(packages, name):
    _, graphs, report = packages
    module, found = graphs[name], report[name]
    assert found["equal"]
    assert all(found["equal"])
    assert found["state"]
    assert found["strides"]
    assert found["parameters"] == len(list(module.parameters()))
    assert found["learns"] == {path: each.requires_grad for path, each in module.named_parameters()}
    flags = {path: each.training for path, each in module.named_modules() if "_guards_fn" not in path}
    assert found["training"] == flags


def test_packages_need_nothing_of_ours_but_the_ops_that_they_call(packages):
    itself = {"pyharness", "pyharness.host", "pyharness.host.first_use", "pyharness.host.recursion"}
    assert set(packages[2]["modules"]) == itself | {"pyharness._C"}
    folder = packages[0]
    for name in set(NAMES) - {"transformer_package"}:
        assert "pyharness" not in (folder / name / "model.py").read_text()


def test_the_code_is_for_people(packages):
    folder, graphs, _ = packages
    text = (folder / "resnet_package" / "model.py").read_text()
    for line in (
        "self.stem.append(nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False))",
        "layer1_0_conv1 = self.layer1[0].conv1(stem_3)",
        "# layer1.0: resnet18.py:33: out = torch.relu(self.bn1(self.conv1(x)))",
    ):
        assert f"        {line}\n" in text
    assert " = None" not in text
    for name in NAMES:
        for file in (folder / name).glob("*.py"):
            lines = file.read_text().split("\n")
            assert all(len(line) <= 100 or "treespec" in "".join(lines[:20]) for line in lines), file
            ast.parse(file.read_text())
    statements = [node for node in graphs["resnet_package"].graph.nodes if node.op.startswith("call")]
    assert all(f"        {node.name} = " in text for node in statements)


def test_what_is_shared_stays_shared_and_what_cannot_be_constructed_is_filled(packages):
    text = (packages[0] / "odd_package" / "model.py").read_text()
    assert "self.tied.weight = self.first.weight  # shared" in text
    assert "self.squash = bare(Squash, range=(-1, 1), kind=torch.float64)" in text
    assert "self.told = Told(4, bias=False)" in text
    assert 'self.heads.add_module("a-b", nn.Linear(4, 4))' in text
    assert "self.plain_attention = nn.MultiheadAttention(6, 2, kdim=6, vdim=6, bias=False)" in text
    assert "self.encoder = bare(" in text
    assert "requires_grad=False" in text
    assert "persistent=False" in text


def test_a_nested_graph_has_a_file_of_its_own_and_is_one_object(packages):
    folder = packages[0] / "nested_package"
    assert "class lambda_(nn.Module):" in (folder / "model.py").read_text()
    assert "def forward" in (folder / "model_inner.py").read_text()


def test_the_state_holds_tensors_and_no_code(packages):
    for name in NAMES:
        file = packages[0] / name / "state.pt"
        with zipfile.ZipFile(file) as archive:
            pickled = next(archive.read(entry) for entry in archive.namelist() if entry.endswith("data.pkl"))
        assert b"pyharness" not in pickled
        assert b"odd_graphs" not in pickled
        assert all(type(value) is torch.Tensor for value in torch.load(file, weights_only=True).values())


def test_an_edit_counts(packages, tmp_path):
    folder = tmp_path / "edited"
    export(packages[1]["nested_package"], folder)
    file = folder / "model.py"
    file.write_text(file.read_text().replace("return (inner_1, x)", "return (inner_1 * 0, x)"))
    command = [sys.executable, "-c", "import edited, torch; print(edited.load()(torch.ones(1, 4))[0].sum().item())"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert float(done.stdout) == 0


class Local(nn.Module):
    """Importable, but for the attribute that no code can say."""

    def __init__(self):
        super().__init__()
        self.socket = object()

    def forward(self, x):
        return x


def with_leaf(leaf):
    root = nn.Module()
    root.leaf = leaf
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module("leaf", (x,)))
    return fx.GraphModule(root, graph)


def calling(function):
    graph = fx.Graph()
    graph.output(graph.call_function(function, (graph.placeholder("x"),), name="called"))
    return fx.GraphModule(nn.Module(), graph)


def inner_class():
    class Inner(nn.Linear):
        pass

    return Inner(2, 2)


def hooked():
    leaf = nn.Linear(2, 2)
    leaf.register_forward_hook(lambda *_: None)
    return leaf


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (lambda: with_leaf(Local()), r"node leaf \(leaf\) calls a Local, whose attribute 'socket' has no code"),
        (lambda: with_leaf(inner_class()), r"node leaf \(leaf\) calls a Inner: .* made while the program runs"),
        (lambda: with_leaf(hooked()), r"node leaf \(leaf\): its Linear has forward hooks"),
        (lambda: with_leaf(nn.Linear(2, 2, device="meta")), r"node leaf \(leaf\): leaf.weight is a Parameter on meta"),
        (lambda: calling(lambda x: x), r"node called uses .*: .*made while the program runs"),
    ],
)
def test_what_cannot_be_exported_names_its_node_and_writes_nothing(module, message, tmp_path):
    with pytest.raises(ExportError, match=message):
        export(module(), tmp_path / "no")
    assert list(tmp_path.iterdir()) == []


NOWHERE = """
import torch
library = torch.library.Library("odd_nowhere", "FRAGMENT")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x * 2, "CPU")
"""


def test_an_op_that_nobody_importable_registers(tmp_path):
    made = {}
    exec(compile(NOWHERE, "<nowhere>", "exec"), made)  # noqa: S102  (a registration without a file)
    module = calling(torch.ops.odd_nowhere.twice.default)
    with pytest.raises(ExportError, match=r"node called calls torch\.ops\.odd_nowhere\.twice"):
        export(module, tmp_path / "no")


@pytest.mark.parametrize(("name", "message"), [("my-model", "my_model"), ("class", "class_"), ("a/b", "no folder")])
def test_a_folder_that_cannot_be_a_package(tmp_path, name, message):
    with pytest.raises(UsageError) as caught:
        export(odd_graphs.nested(), tmp_path / name)
    assert message in str(caught.value)


def test_nothing_is_overwritten_unless_asked_for(tmp_path):
    folder = tmp_path / "mine"
    export(odd_graphs.nested(), folder)
    with pytest.raises(UsageError, match="there already"):
        export(odd_graphs.nested(), folder)
    assert export(odd_graphs.nested(), folder, overwrite=True).name == "lambda_"
    for name in ("notes.txt", "helper.py"):
        (folder / name).write_text("mine")
        with pytest.raises(UsageError, match=f"{name}', which export did not write"):
            export(odd_graphs.nested(), folder, overwrite=True)
        assert (folder / name).read_text() == "mine"
        (folder / name).unlink()
    other = tmp_path / "other"
    other.mkdir()
    (other / "theirs.txt").write_text("")
    with pytest.raises(UsageError, match="export did not write"):
        export(odd_graphs.nested(), other, overwrite=True)
    assert (other / "theirs.txt").exists()
