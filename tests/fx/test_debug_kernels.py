"""Kernels of inductor's that are built to be debugged: how they are compiled, and which cache they go to."""

import os
from types import ModuleType

import pytest
from torch._inductor import cpp_builder
from torch._inductor.runtime import cache_dir_utils

from pyharness.fx.inductor import LackingError
from pyharness.fx.inductor.debug_build import DebugBuild


@pytest.fixture
def build(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "users"))
    monkeypatch.delenv("TORCHINDUCTOR_DEBUG_COMPILE", raising=False)
    monkeypatch.setattr(cache_dir_utils, "cache_dir", cache_dir_utils.cache_dir)
    build = DebugBuild()
    build.keep(cache_dir_utils)
    yield build
    build.end()


def flags():
    return set(cpp_builder._get_optimization_cflags("g++")[0])


def test_kernels_are_unoptimized_and_in_our_cache_until_it_ends(build, tmp_path):
    before = flags()
    build.begin(str(tmp_path / "ours"))
    assert {"O0", "g"} <= flags()
    assert cache_dir_utils.cache_dir() == str(tmp_path / "ours")
    build.end()
    assert flags() == before
    assert "O0" not in before
    assert cache_dir_utils.cache_dir() == str(tmp_path / "users")
    assert "TORCHINDUCTOR_DEBUG_COMPILE" not in os.environ


def test_a_cache_that_the_program_names_is_left_alone(build, monkeypatch, tmp_path):
    build.begin(str(tmp_path / "ours"))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "named"))
    assert cache_dir_utils.cache_dir() == str(tmp_path / "ours")


def test_processes_that_the_program_starts_build_likewise(build, tmp_path):
    build.begin(str(tmp_path / "ours"))
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == str(tmp_path / "ours")
    assert os.environ["TORCHINDUCTOR_DEBUG_COMPILE"] == "1"


def test_a_torch_that_cannot_is_named(build):
    build.follow(cpp_builder)
    with pytest.raises(LackingError, match="TORCHINDUCTOR_DEBUG_COMPILE"):
        build.follow(ModuleType("another"))


@pytest.fixture
def older():
    """torch's module as it is before 2.10: its flags are a list, and read no environment."""

    def flags(_compiler, *, min_optimize=False):
        return [*(["O1"] if min_optimize else ["O3", "DNDEBUG"]), "ffast-math"]

    module = ModuleType("cpp_builder")
    vars(module)["_get_optimization_cflags"] = flags
    return module


@pytest.mark.parametrize("named", [{}, {"min_optimize": True}])
def test_flags_of_an_older_torch_are_replaced(build, older, tmp_path, named):
    build.follow(older)
    before = older._get_optimization_cflags("g++", **named)
    build.begin(str(tmp_path / "ours"))
    assert older._get_optimization_cflags("g++", **named) == ["O0", "g", "ffast-math"]
    build.end()
    assert older._get_optimization_cflags("g++", **named) == before


@pytest.mark.parametrize("early", [True, False])
def test_processes_of_an_older_torch_build_likewise(build, older, monkeypatch, tmp_path, early):
    monkeypatch.delenv("AOT_INDUCTOR_DEBUG_COMPILE", raising=False)
    steps = [lambda: build.begin(str(tmp_path / "ours")), lambda: build.follow(older)]
    for step in steps if early else reversed(steps):
        step()
    assert os.environ["AOT_INDUCTOR_DEBUG_COMPILE"] == "1"
    build.end()
    assert "AOT_INDUCTOR_DEBUG_COMPILE" not in os.environ
