"""The public API is what docs/versioning.md says: names in the reference, environment variables, one version."""

from __future__ import annotations

import importlib
import json
import re

import pytest

import pyharness
from kit.paths import ROOT

PAGE = (ROOT / "docs" / "versioning.md").read_text(encoding="utf-8")
REFERENCE = {
    "pyharness": "python",
    "pyharness.fx": "python-fx",
    "pyharness.inspect": "python-inspect",
    "pyharness.native": "python-native",
    "pyharness.views": "python-views",
}
INTERNAL = {
    "PYHARNESS_CHILDREN",  # the door that a child process knocks at
    "PYHARNESS_KERNEL_LOG",  # where the copy of a kernel that fx verify runs writes its variables
    "PYHARNESS_OUTPUT_APART",  # an agent reads the answer without what the program prints
    "PYHARNESS_PROMPT",  # whose Python `breakpoint()` under `pyharness run` starts; taken away at once
    "PYHARNESS_REPRODUCING",  # a script of bisect that runs itself
    "PYHARNESS_STOPS",  # the places that ph-run hands to the program
    "PYHARNESS_TORCH_VERSION",  # a macro of the engine's sources
    "_PYHARNESS_COMPLETE",  # set by a shell that completes
}
VARIABLE = re.compile(r"[\"'](_?PYHARNESS_[A-Z_]+)[\"']")


@pytest.mark.parametrize("module", REFERENCE)
def test_every_public_name_is_in_the_reference(module):
    page = (ROOT / "docs" / "reference" / f"{REFERENCE[module]}.md").read_text(encoding="utf-8")
    names = {name for name in importlib.import_module(module).__all__ if not name.startswith("__")}
    assert names
    assert names <= set(re.findall(r"^##+ (\w+)$", page, re.MULTILINE))


def test_the_page_names_the_public_modules():
    row = next(line for line in PAGE.splitlines() if line.startswith("| Python |"))
    assert set(re.findall(r"`(pyharness(?:\.\w+)?)`", row)) == set(REFERENCE)


def test_the_environment_variables_are_those_that_are_read():
    told = set(re.findall(r"^\| `(PYHARNESS_\w+)` \|", PAGE, re.MULTILINE))
    sources = [*(ROOT / "pyharness").rglob("*.py"), ROOT / "cmake" / "build.py", ROOT / "setup.py"]
    read = {name for path in sources for name in VARIABLE.findall(path.read_text(encoding="utf-8"))}
    assert read == told | INTERNAL


def test_there_is_one_version():
    manifest = json.loads((ROOT / "vscode" / "package.json").read_text(encoding="utf-8"))
    newest = re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert {manifest["version"], newest} == {pyharness.__version__}
