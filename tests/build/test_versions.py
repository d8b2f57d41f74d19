"""The pairs of Python and torch that noxfile.py tests are those that the package and its documentation state."""

from __future__ import annotations

import ast
import re

import pytest

from kit.paths import ROOT
from pyharness.doctor import tested

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib


@pytest.fixture(scope="module")
def pairs() -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    module = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    (value,) = [
        node.value for node in module.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PAIRS"
    ]
    found = {(tested.parsed(python), tested.parsed(torch)) for python, torch in ast.literal_eval(value)}
    assert found
    return found


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_classifiers_name_the_pythons(pairs, project):
    said = re.findall(r"Python :: (\d+\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)
    assert {tested.parsed(python) for python in said} == {python for python, _ in pairs}


def test_the_package_takes_any_torch(project):
    assert not [text for text in project["dependencies"] if "torch" in text]


def test_the_doctor_knows_them(pairs):
    pythons, torches = ({pair[part] for pair in pairs} for part in (0, 1))
    assert (tested.PYTHON.oldest, tested.PYTHON.newest) == (min(pythons), max(pythons))
    assert (tested.TORCH.oldest, tested.TORCH.newest) == (min(torches), max(torches))


def test_the_documentation_has_a_row_for_each(pairs):
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (3\.\d+)[\d.]* \| (2\.\d+)[\d.]*[ ,].*\| (?:tested|partly) \|", page, re.MULTILINE)
    assert {(tested.parsed(python), tested.parsed(torch)) for python, torch in rows} >= pairs
