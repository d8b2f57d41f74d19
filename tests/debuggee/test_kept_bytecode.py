"""Bytecode of what a program imports of ours, where Python is told to keep none: compiled once, for each version."""

import os
import shutil
import subprocess
import sys

import pytest

from kit.interpreters import cases, interpreters
from kit.paths import ROOT

PROGRAM = """import os, sys
ours = sys.modules["pyharness.debuggee.link.session"]
print(sys.dont_write_bytecode, sys.pycache_prefix, os.path.dirname(ours.__cached__))
"""


def _unkept(_folder, names):
    return [name for name in names if name == "__pycache__"]


@pytest.fixture
def tree(tmp_path):
    """A tree of ours in which no bytecode lies, and a script."""
    shutil.copytree(ROOT / "pyharness", tmp_path / "tree/pyharness", ignore=_unkept)
    (tmp_path / "script.py").write_text(PROGRAM)
    return tmp_path


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases(interpreters()))
@pytest.mark.parametrize("keeps", [False, True], ids=["told to keep none", "keeps it"])
def test_it_is_kept_in_the_state_folder_and_the_program_does_not_see_how(version, keeps, tree):
    environment = {**os.environ, "PYTHONPATH": str(tree / "tree"), "PYHARNESS_HOME": str(tree / "home")}
    environment["PYTHONDONTWRITEBYTECODE"] = "" if keeps else "1"
    words = ("step", "--at", f"py:{tree}/script.py:3", "--python", interpreters()[version], tree / "script.py")
    for _ in range(2):
        command = [sys.executable, "-m", "pyharness", *words]
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=True)
    beside = tree / "tree/pyharness/debuggee/link"
    (kept,) = (beside if keeps else tree / f"home/bytecode{beside}").glob("**/session.*.pyc")
    assert f"{not keeps} None {kept.parent}\n" in done.stdout
    assert keeps or not list((tree / "tree").glob("**/*.pyc"))
