"""Packages whose names are imported on first use: type checkers, ``dir()`` and ``import *`` see the same."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

PACKAGES = ["pyharness", "pyharness.fx", "pyharness.inspect", "pyharness.native"]


@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_type_checker_reads_is_what_there_is(package):
    module = import_module(package)
    imported = set()
    for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.asname:
                    imported.add(alias.name)
                    assert getattr(module, alias.name) is getattr(import_module(node.module), alias.name)
    assert imported == {name for name in module.__all__ if not name.startswith("__")}
    assert imported <= set(dir(module))


def test_a_name_that_is_not_there_is_told_with_the_nearest():
    program = "import pyharness.inspect, sys; assert 'torch' not in sys.modules; pyharness.inspect.captur"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "module 'pyharness.inspect' has no attribute 'captur'. Did you mean: 'capture'?" in done.stderr
