"""What kind of project a folder holds, read from files as people write them, and never by running any."""

import pytest
from project_files import FILES, OP, SETUP, write

from pyharness.model.errors import HarnessError, UsageError
from pyharness.project import kinds
from pyharness.project.reading import setup_file
from pyharness.project.reading.cmake_commands import commands

COMPUTED = """
import os.path as osp, glob
from torch.utils import cpp_extension
from torch.utils.cpp_extension import CUDA_HOME, CppExtension, CUDAExtension
library = "rotor"
Extension = CUDAExtension if CUDA_HOME else CppExtension
modules = [Extension(f"{library}._{osp.basename(one)}_cpu", [one]) for one in glob.glob("csrc/*.cpp")]
"""
RUNS_CMAKE = """
import subprocess, sys, os
from setuptools import Extension, setup
class Build(build_ext):
    def run(self):
        options = ["-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_INSTALL_PREFIX={self.build_lib}", "-DROTOR_PYTHON=ON",
                   f"-DPYTHON_EXECUTABLE={sys.executable}", f"-DROTOR_ARCH={os.environ['ARCH']}",
                   "-DROTOR_EVIL=$(touch evil)", "-DROTOR_QUOTE=a\\"b"]
        if "CUDA_HOME" in os.environ:
            options.append("-DROTOR_CUDA=ON")
        subprocess.run(["cmake", ".", *options], cwd="build/fixed")
setup(name="rotor-torch", ext_modules=[Extension(name="rotor", sources=[])], cmdclass={"build_ext": Build})
"""


@pytest.mark.parametrize("kind", FILES)
def test_each_kind_is_told_by_its_files_and_nothing_of_it_runs(project, kind):
    root = project(kind)
    found = kinds.project_in(root)
    assert found.kind == kind
    assert found.also == (("cmake",) if kind == "scikit-build-core" else ())
    assert not (root / "setup_was_run").exists()
    assert [path.name for path in kinds.sources(found)] == ["shear.cpp"]


def test_names_of_modules_are_read_as_far_as_they_are_written(tmp_path):
    found = kinds.project_in(write(tmp_path, {"setup.py": COMPUTED}))
    assert (found.kind, found.modules, found.module) == ("setuptools", ("rotor._*_cpu",), "")
    other = kinds.project_in(write(tmp_path / "other", {"setup.py": SETUP}))
    assert (other.name, other.modules, other.module) == ("shears", ("shears._C",), "_C")


def test_a_setup_that_runs_cmake_where_it_likes_is_built_by_cmake_with_its_options(tmp_path):
    """The build that it would make is the release one's folder; its options are those that are always given."""
    root = write(tmp_path, {"setup.py": RUNS_CMAKE, "CMakeLists.txt": FILES["cmake"]["CMakeLists.txt"]})
    found = kinds.project_in(root)
    assert (found.kind, found.modules) == ("cmake", ("shears",))
    assert found.options == ("-DROTOR_PYTHON=ON", "-DPYTHON_EXECUTABLE=$python")
    (root / "CMakeLists.txt").rename(write(root / "lib", {"top.cpp": ""}) / "CMakeLists.txt")
    assert (kinds.project_in(root).cmake_folder, found.cmake_folder) == ("lib", ".")
    write(root, {"setup.py": RUNS_CMAKE.replace('"build/fixed"', "self.build_temp")})
    assert kinds.project_in(root).kind == "setuptools"


def test_a_project_of_several_kinds_is_built_as_it_is_published_unless_asked_otherwise(tmp_path):
    root = write(tmp_path, {**FILES["setuptools"], **FILES["jit"]})
    assert (kinds.project_in(root).kind, kinds.project_in(root).also) == ("setuptools", ("jit",))
    assert kinds.project_in(root, "jit").kind == "jit"
    with pytest.raises(UsageError, match="is not a cmake project") as raised:
        kinds.project_in(root, "cmake")
    assert "setuptools and jit" in raised.value.remedy
    with pytest.raises(UsageError, match="no kind 'setuptool'") as raised:
        kinds.project_in(root, "setuptool")
    assert raised.value.remedy == "Did you mean setuptools?"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"train.py": "import torch"}, "is not a project that builds a PyTorch extension"),
        ({"setup.py": "from setuptools import setup\nsetup(name='x')"}, "is not a project"),
        ({"setup.py": "this is not Python", "a.cpp": OP}, "is not a project"),
        ({"CMakeLists.txt": "project(x)\nadd_library(x SHARED x.cpp)", "x.cpp": ""}, "is not a project"),
        ({"io.py": "import json\njson.load('cpp_extension')\ntorch.load('x')"}, "is not a project"),
    ],
)
def test_what_is_no_such_project(tmp_path, files, message):
    with pytest.raises(UsageError, match=message) as raised:
        kinds.project_in(write(tmp_path, files))
    assert "CppExtension" in raised.value.remedy


def test_a_project_further_down_is_offered(tmp_path):
    write(tmp_path, {"ext/a/setup.py": SETUP, "docs/setup.py": "", "train.py": ""})
    with pytest.raises(UsageError, match="is not a project") as raised:
        kinds.project_in(tmp_path)
    assert raised.value.remedy == f"There is one below: `pyharness init {tmp_path}/ext/a`."


def test_a_folder_that_is_not_there_offers_its_neighbours(tmp_path):
    (tmp_path / "rotor").mkdir()
    with pytest.raises(UsageError, match="no folder") as raised:
        kinds.project_in(tmp_path / "roter")
    assert raised.value.remedy == "Did you mean rotor?"


def test_a_project_without_sources_and_one_whose_metadata_is_broken(tmp_path):
    root = write(tmp_path, {"setup.py": SETUP})
    with pytest.raises(UsageError, match=r"has no C\+\+ sources, though setup.py has a CppExtension"):
        kinds.sources(kinds.project_in(root))
    write(root, {"pyproject.toml": "[project"})
    with pytest.raises(HarnessError, match=r"pyproject.toml cannot be read"):
        kinds.project_in(root)


def test_commands_of_cmake_with_every_way_to_write_an_argument():
    text = 'a()\nB("x\\"y(" # )\n  [[ (z]] ${V} c\\ d)\n#[=[ no() ]=]\nIF(NOT (X AND Y))\nunfinished('
    assert [(one.name, one.arguments) for one in commands(text)] == [
        ("a", ()),
        ("b", ('x\\"y(', " (z", "${V}", "c\\ d")),
        ("if", ("NOT", "X", "AND", "Y")),
    ]


def test_a_loader_in_a_function_of_theirs_and_inline_code(tmp_path):
    text = """
import torch.utils.cpp_extension
def _here(name): return name
class Later:
    def get(self):
        return torch.utils.cpp_extension.load(name=f"x{1}", sources=[_here("op.cpp")], build_directory="/tmp")
SOURCE = "int f(int x) { return x; }"
inline = torch.utils.cpp_extension.load_inline("made", cpp_sources=[SOURCE], functions=["f"])
"""
    root = write(tmp_path, {"src/rotor/ops.py": text, "src/rotor/op.cpp": "", "tests/also.py": text})
    first, second, *tests = kinds.project_in(root).jit
    assert (first.name, first.sources, first.variable, first.own_folder) == ("x*", ("src/rotor/op.cpp",), "", True)
    assert (second.name, second.variable, second.functions) == ("made", "inline", ("f",))
    assert (second.module, second.folder, second.inline) == ("rotor.ops", "src", "int f(int x) { return x; }")
    assert {call.file for call in tests} == {"tests/also.py"}


def test_a_setup_that_is_deeply_nested_or_empty_is_passed_over(tmp_path):
    assert setup_file.read(write(tmp_path, {"setup.py": "(" * 5000})) is None
    assert not setup_file.read(write(tmp_path, {"setup.py": ""})).builds_extensions
