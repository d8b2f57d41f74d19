"""Values to call an op with, and the program that does."""

import pytest
from project_files import FILES, OP, write

from pyharness.project import call_script, kinds
from pyharness.project.ops import Source, ops_of
from pyharness.project.reading.cxx_functions import read
from pyharness.project.samples import arguments

SCHEMA = (
    "(Tensor(a!) x, Tensor? y, int[2] size, SymInt n, float eps=1e-05, *, bool b, str s, Tensor[] l, Foo z, int? k=1)"
)


def op_of(text, **options):
    return ops_of([Source("f.cpp", read(text), in_tests=False)], **options)[0]


def test_of_a_schema():
    op = op_of(f'TORCH_LIBRARY(n, m) {{ m.def("f{SCHEMA} -> Tensor(a!)", [](int x) {{ return x; }}); }}')
    assert [(one.name, one.value, one.by_name) for one in arguments(op)] == [
        ("x", "torch.rand(4, 4)", False),
        ("y", "None", False),
        ("size", "[2, 2]", False),
        ("n", "2", False),
        ("b", "False", True),
        ("s", '""', True),
        ("l", "[torch.rand(4, 4)]", True),
        ("z", "...", True),
    ]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("const torch::Tensor&", "torch.rand(4, 4)"),
        ("c10::optional<at::Tensor>", "None"),
        ("std::vector<int64_t>", "[2]"),
        ("at::IntArrayRef", "[2]"),
        ("torch::TensorList", "[torch.rand(4, 4)]"),
        ("unsigned long", "..."),
        ("double", "0.5"),
        ("const std::string &", '""'),
        ("Mine*", "..."),
    ],
)
def test_of_a_function(kind, value):
    op = op_of(f'int f({kind} x) {{ return 1; }} TORCH_LIBRARY(n, m) {{ m.def("f", &f); }}')
    assert [(one.name, one.value) for one in arguments(op)] == [("x", value)]


@pytest.mark.parametrize("kind", FILES)
def test_the_program_is_python_for_every_kind(project, kind):
    found = kinds.project_in(project(kind))
    text = call_script.text(found, op_of(OP))
    compile(text, "call.py", "exec")
    assert "torch.ops.shears.shear(x, by)" in text
    assert ("libraries" in text) == (kind != "jit")


def test_a_class_is_made_before_its_method_is_called(tmp_path):
    text = """struct Rotor { Tensor turn(Tensor x) { return x; } };
    auto made = torch::class_<Rotor>("rotors", "Rotor").def(torch::init<double, bool>()).def("turn", &Rotor::turn);"""
    found = kinds.project_in(write(tmp_path, {"CMakeLists.txt": FILES["cmake"]["CMakeLists.txt"]}))
    script = call_script.text(found, op_of(text))
    assert "made = torch.classes.rotors.Rotor(0.5, False)\nx = torch.rand(4, 4)\nprint(made.turn(x))" in script


def test_names_that_python_does_not_take(tmp_path):
    schema = "f(Tensor in, float lambda, *, int torch, bool is) -> Tensor"
    op = op_of(f'TORCH_LIBRARY(n, m) {{ m.def("{schema}", [](int x) {{ return x; }}); }}')
    found = kinds.project_in(write(tmp_path, {"CMakeLists.txt": FILES["cmake"]["CMakeLists.txt"]}))
    script = call_script.text(found, op)
    compile(script, "call.py", "exec")
    assert 'torch.ops.n.f(in_, lambda_, torch=torch_, **{"is": is_})' in script


def test_a_file_that_cannot_be_imported_by_its_name(tmp_path):
    inside = "from torch.utils.cpp_extension import load\nmade = load('rotor', ['op.cpp'])\n"
    script = call_script.text(kinds.project_in(write(tmp_path, {"my-ops.py": inside, "op.cpp": OP})), op_of(OP))
    compile(script, "call.py", "exec")
    assert 'extension = load("rotor", [PROJECT / "op.cpp"]' in script


def test_what_cannot_be_guessed_is_named(tmp_path):
    text = 'int f(Mine x, int y) { return 1; } PYBIND11_MODULE(lib, m) { m.def("f", &f); }'
    found = kinds.project_in(write(tmp_path, {"setup.py": FILES["setuptools"]["setup.py"]}))
    script = call_script.text(found, op_of(text))
    assert "put in x, which it could not guess" in script
    assert "x = ...\ny = 2\nprint(extension.f(x, y))" in script
    assert call_script.to_fill_in(found, op_of(text)) == ["x"]


def test_a_loader_inside_of_a_function_is_called_again(tmp_path):
    inside = "from torch.utils.cpp_extension import load\ndef get(n):\n    return load('rotor', ['op.cpp'])\n"
    root = write(tmp_path, {"rotor.py": inside, "op.cpp": OP})
    script = call_script.text(kinds.project_in(root), op_of(OP))
    assert 'extension = load("rotor", [PROJECT / "op.cpp"], is_python_module=False)' in script
    unknown = write(tmp_path / "b", {"rotor.py": inside.replace("['op.cpp']", "sources"), "op.cpp": OP})
    script = call_script.text(kinds.project_in(unknown), op_of(OP))
    assert "import rotor\n\nextension = ...  # put in what makes rotor.py:3 load it" in script
    assert call_script.to_fill_in(kinds.project_in(unknown), op_of(OP)) == ["extension"]


@pytest.mark.parametrize(
    "body", ["return load('rotor', ['op.cpp'])", "made = load('rotor', ['op.cpp'])\n    return made"]
)
def test_a_function_that_returns_the_extension_is_called(tmp_path, body):
    inside = f"from torch.utils.cpp_extension import load\ndef get(verbose=False):\n    {body}\n"
    root = write(tmp_path, {"src/rotor.py": inside, "op.cpp": OP})
    script = call_script.text(kinds.project_in(root), op_of(OP))
    assert 'sys.path.insert(0, str(PROJECT / "src"))' in script
    assert "from rotor import get\n\nextension = get()" in script
