"""Small projects of each kind that are not ours, as files."""

from __future__ import annotations

from pathlib import Path

OP = """\
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <cassert>

using torch::stable::Tensor;

namespace shears {

Tensor shear_cpu(const Tensor& x, double by) {
  int64_t rows = x.size(0);  // @first
  assert(rows > 0);
  return torch::stable::empty_like(x);
}

} // namespace shears

STABLE_TORCH_LIBRARY(shears, m) {
  m.def("shear(Tensor x, float by) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(shears, CPU, m) {
  m.impl("shear", TORCH_BOX(&shears::shear_cpu));
}
"""
"""An op over torch's stable interface, whose headers compile in a second."""
SETUP = """\
import pathlib
pathlib.Path("setup_was_run").touch()
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="shears",
    packages=["shears"],
    ext_modules=[
        CppExtension("shears._C", ["csrc/shear.cpp"], extra_compile_args=["-O3", "-DNDEBUG"], extra_link_args=["-s"])
    ],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)},
)
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.18)
project(shears CXX) # find_package(Nothing)
#[[ a bracket comment: find_package(Torch) ]]
find_package(Torch REQUIRED)
set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -O3 -DNDEBUG")
add_library(${PROJECT_NAME} SHARED csrc/shear.cpp)
target_link_libraries(shears "${TORCH_LIBRARIES}")
"""
SCIKIT = """\
[build-system]
requires = ["scikit-build-core", "torch"]
build-backend = "scikit_build_core.build"
[project]
name = "shears-torch"
version = "1"
"""
JIT = """\
from pathlib import Path

from torch.utils.cpp_extension import load

extension = load("shears_jit", [str(Path(__file__).parent / "shear.cpp")], is_python_module=False)
"""
FILES = {
    "setuptools": {"setup.py": SETUP, "shears/__init__.py": "", "csrc/shear.cpp": OP},
    "cmake": {"CMakeLists.txt": CMAKE, "csrc/shear.cpp": OP},
    "scikit-build-core": {"pyproject.toml": SCIKIT, "CMakeLists.txt": CMAKE, "csrc/shear.cpp": OP},
    "jit": {"shears/__init__.py": JIT, "shears/shear.cpp": OP},
}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8", newline="")
    return root


def contents(root: Path) -> dict[str, bytes]:
    """Every file and what is in it."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
