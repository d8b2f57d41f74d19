"""A missing or unfit extension is told with its remedy."""

from __future__ import annotations

import importlib
import re
import shutil
import sysconfig
from pathlib import Path

import pytest

from pyharness.engine import facts, need
from pyharness.model.errors import HarnessError

loading = importlib.import_module("pyharness.native.load")  # the name in the package is the function


def test_a_module_that_is_not_built():
    with pytest.raises(HarnessError) as raised:
        loading.load("_never_built")
    assert sysconfig.get_config_var("EXT_SUFFIX") in raised.value.message
    assert "make debug-build" in raised.value.remedy


def test_builds_for_other_pythons_are_named(tmp_path, monkeypatch):
    (tmp_path / "_other.cpython-27-x86_64-linux-gnu.so").touch()
    monkeypatch.setattr(loading, "_PACKAGE", tmp_path)
    with pytest.raises(HarnessError, match=r"only _other\.cpython-27"):
        loading.load("_other")


def test_a_module_that_does_not_load(tmp_path, monkeypatch):
    import pyharness

    broken = tmp_path / f"_broken{sysconfig.get_config_var('EXT_SUFFIX')}"
    broken.write_bytes(b"not a library")
    monkeypatch.setattr(loading, "_PACKAGE", tmp_path)
    monkeypatch.setattr(pyharness, "__path__", [str(tmp_path)])
    with pytest.raises(HarnessError, match=r"_broken does not load: .*file too short"):
        loading.load("_broken")


def test_built_for_another_torch(monkeypatch):
    monkeypatch.setattr(loading, "_torch_version", lambda: "1.13.0")
    with pytest.raises(HarnessError, match=r"built for torch 2\.\d+.*but torch 1\.13\.0 is running") as raised:
        loading.load("_C")
    assert "make debug-build" in raised.value.remedy


def test_an_engine_for_another_torch_is_not_taken(tmp_path, monkeypatch):
    """Its file says what it is for: to load it beside another torch could end the program."""
    fits = facts.here()
    taken = need.beside(fits)
    other = tmp_path / taken.name
    other.write_bytes(taken.read_bytes().replace(b"engine for torch 2.", b"engine for torch 1."))
    monkeypatch.setattr(need, "_PACKAGE", tmp_path)
    monkeypatch.delenv("PYHARNESS_BUILD", raising=False)
    assert need.beside(fits) is None
    shutil.copy2(taken, other)
    assert need.beside(fits) == other


@pytest.mark.parametrize("name", ["_C", "_engine", "_guard", "_trap"])
def test_the_stub_names_what_the_module_has(name):
    module = loading.load(name)
    stub = (Path(loading.__file__).parents[1] / f"{name}.pyi").read_text(encoding="utf-8")
    public = {name for name in vars(module) if not name.startswith("_")}
    assert {name for name in public if re.search(rf"^(def |class |){name}\b", stub, re.MULTILINE)} == public
