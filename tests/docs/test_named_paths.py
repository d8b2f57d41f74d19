"""Files and folders that a page about the code names are there: a room that moves takes its name along."""

from __future__ import annotations

import re

import pytest
from pages import ROOT, pages

ABOUT_THE_CODE = {"CONTRIBUTING.md", "docs/architecture.md", "docs/glossary.md", "docs/building.md", "docs/faults.md"}
PATH = re.compile(r"`([\w.*/-]*[\w*]/|[\w.*/-]*/[\w.*-]+\.(?:py|pyi|h|cpp|md|sh|toml|json|cmake|gdb))`")
FOLDERS = (
    *("", "docs", "tests", "csrc/engine", "pyharness", "pyharness/include"),
    *("pyharness/fx", "pyharness/ingdb", "pyharness/reading"),
)
MADE = {".venv/", "build/NAME/", "build/release/", ".vscode/", ".setup/"}
"""What is not in a fresh clone."""
FOR_READERS = {"debugging/", "debugging/build.sh", "pyharness/cli/VERB.py", "bad/reproduce.py"}
"""What stands for a file that somebody makes."""


def named(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return sorted({path for path in PATH.findall(text) if path not in MADE | FOR_READERS and "..." not in path})


@pytest.mark.parametrize("page", sorted(ABOUT_THE_CODE))
def test_named_paths_exist(page):
    missing = [path for path in named(page) if not any(list((ROOT / folder).glob(path)) for folder in FOLDERS)]
    assert not missing, f"{page} names {missing}"


def test_pages_about_the_code_name_some():
    assert {str(page.relative_to(ROOT)) for page in pages()} >= ABOUT_THE_CODE
    assert sum(len(named(page)) for page in ABOUT_THE_CODE) > 60
