"""Libraries that are not the user's, debugged all the same: torch itself, built with debug information."""

import os
import subprocess

import pytest

import pyharness
from pyharness.model import user_code
from pyharness.model.user_code import UserCode

pytestmark = pytest.mark.rotated_tests(turns=2)

SOURCE = """int scaled(int value) {
  int more = value * 2 + 1;
  return more;
}
"""
SCRIPT = """import ctypes
library = ctypes.CDLL({library!r})
number = library.scaled(3)
print(number)
"""


@pytest.fixture
def torch_like(tmp_path, monkeypatch):
    """A script whose library lies, and was compiled, where torch's do."""
    monkeypatch.setenv("PYHARNESS_INCLUDE", "")
    source = tmp_path / "aten/src/ATen/native/Scaled.c"
    library = tmp_path / "torch/lib/libtorch_cpu.so"
    for file in (source, library):
        file.parent.mkdir(parents=True)
    source.write_text(SOURCE)
    subprocess.run(["cc", "-g", "-O0", "-shared", "-fPIC", "-o", library, source], check=True)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(library=str(library)))
    return script


def into(script, include=(), line=3, cwd=None, **env):
    with pyharness.debug(str(script), stdout=subprocess.DEVNULL, include=include, cwd=cwd, env=env) as program:
        assert program.run_to(f"py:{script}:{line}") is not None
        return program.into_native().frame


def test_torch_is_stepped_over_unless_its_sources_and_its_binary_are_included(torch_like):
    assert (into(torch_like, ()).language, into(torch_like, ["*/aten/src/*"]).language) == ("python", "python")
    frame = into(torch_like, ["*/aten/src/ATen/native/*", "*/libtorch_cpu.so"])
    assert (frame.language, frame.function, frame.line) == ("native", "scaled", 2)


def test_a_library_that_the_linker_brought_before_all_else_is_stepped_into(tmp_path):
    """As one of torch's files is, compiled with debug information and put in front of what the wheel has."""
    source, library, script = tmp_path / "scaled.c", tmp_path / "libscaled.so", tmp_path / "script.py"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-g", "-O0", "-shared", "-fPIC", "-o", library, source], check=True)
    script.write_text("import ctypes\nnumber = ctypes.pythonapi.scaled(3)\nprint(number)\n")
    frame = into(script, line=2, LD_PRELOAD=str(library))
    assert (frame.language, frame.function, frame.line) == ("native", "scaled", 2)


def test_a_library_is_read_that_the_program_named_from_its_own_folder(tmp_path):
    folder = tmp_path / "the program's"
    folder.mkdir()
    (folder / "scaled.c").write_text(SOURCE)
    subprocess.run(["cc", "-g", "-O0", "-shared", "-fPIC", "-o", "libscaled.so", "scaled.c"], check=True, cwd=folder)
    script = folder / "script.py"
    script.write_text(SCRIPT.format(library="./libscaled.so"))
    frame = into(script, cwd=str(folder))
    assert (frame.language, frame.function, frame.file) == ("native", "scaled", str(folder / "scaled.c"))


def test_what_is_included_is_that_of_the_program_and_of_the_environment(monkeypatch):
    monkeypatch.setenv("PYHARNESS_INCLUDE", "")
    monkeypatch.setattr(user_code, "_FROM_OUTSIDE", "*/c10/*")
    first, second = UserCode.of(["*/aten/*"]), UserCode.of(["*/torch/nn/*.py"])
    assert second.environment == {"PYHARNESS_INCLUDE": "*/c10/*:*/torch/nn/*.py"}
    assert second.has_source("/src/pytorch/c10/core/Device.cpp")
    assert first.has_source("/src/pytorch/aten/src/ATen/Context.cpp")
    assert not second.has_source("/src/pytorch/aten/src/ATen/Context.cpp")
    assert second.has_python("/v/lib/python3.11/site-packages/torch/nn/functional.py")
    assert not second.has_binary("/v/torch/lib/libtorch_cpu.so")
    user_code.include(["*/aten/*"])
    assert os.environ["PYHARNESS_INCLUDE"] == "*/c10/*:*/aten/*"
    assert user_code.is_user_source("/src/pytorch/aten/src/ATen/Context.cpp")


def test_a_second_program_leaves_the_first_ones_alone(torch_like):
    """Both are debugged by one process, as sessions of one debug adapter are."""
    first = pyharness.debug(str(torch_like), stdout=subprocess.DEVNULL, include=["*/aten/*", "*/libtorch_cpu.so"])
    with first, pyharness.debug(str(torch_like), stdout=subprocess.DEVNULL) as second:
        for program in (first, second):
            program.run_to(f"py:{torch_like}:3")
        frame = first.into_native().frame
        assert (frame.language, frame.function) == ("native", "scaled")
        assert second.into_native().frame.language == "python"
        assert not first.stack()[0].plumbing


def test_included_python_stays_the_users_when_a_second_program_comes(tmp_path):
    library = tmp_path / "site-packages" / "torch" / "thing.py"
    library.parent.mkdir(parents=True)
    library.write_text("def made():\n    return 1\n")
    script = library.parent / "script.py"
    script.write_text("import thing\nthing.made()\n")
    with pyharness.debug(str(script), include=["*/torch/thing.py"]) as first, pyharness.debug(str(script)):
        first.run_to(f"py:{library}:2")
        assert not first.stack()[0].plumbing


@pytest.mark.parametrize(
    "library",
    [
        "/v/lib/python3.13/site-packages/nvidia/nccl/lib/libnccl.so.2",  # has debug information, as Triton's have
        "/v/lib/python3.13/site-packages/triton/_C/libtriton.so",
        "/usr/local/cuda-13.0/lib64/libcudart.so.13",
        "/conda/envs/one/lib/libnccl.so.2.29.7",
    ],
)
def test_what_torch_brings_for_cuda_is_not_the_users(library):
    assert not user_code.is_user_binary(library)
    assert user_code.is_user_binary("/v/lib/python3.13/site-packages/my_ops/_C.cpython-313-x86_64-linux-gnu.so")
