"""The file of a module is the one that the program would import: by its folder, its PYTHONPATH, its safe path."""

import sys

import pytest

from kit import needs
from pyharness.host.module_file import module_file


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a package, in which this process stands, and an empty one beside it."""
    for folder in ("here/pk", "here/lib", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "here/pk/tool.py").write_text("")
    (tmp_path / "here/lib/added.py").write_text("")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    return tmp_path / "here"


def test_a_module_of_the_current_folder(here):
    assert module_file("pk.tool", None, "", {}) == str(here / "pk/tool.py")


@needs.A_SAFE_PATH
@pytest.mark.parametrize("started", ["", "here"])
def test_a_safe_path_has_no_current_folder(here, monkeypatch, started):
    monkeypatch.setattr(sys, "path", [started and str(here), *filter(None, sys.path)])  # a worker of xdist has ""
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    assert not module_file("pk.tool", None, "", {})
    assert module_file("pk.tool", None, "", {"PYTHONPATH": "."}) == str(here / "pk/tool.py")
    assert module_file("pk.tool", None, "", {"PYTHONSAFEPATH": ""}) == str(here / "pk/tool.py")


def test_a_relative_path_is_the_programs(here, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "lib")
    monkeypatch.setattr(sys, "path", [sys.path[0], str(here / "lib"), *sys.path[1:]])
    assert module_file("added", None, "", {}) == str(here / "lib/added.py")
    assert not module_file("added", "../elsewhere", "", {})
    assert not module_file("pk.tool", "../elsewhere", "", {})
