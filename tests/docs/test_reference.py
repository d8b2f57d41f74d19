"""The reference is what the code says, and every public name says what it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kit.paths import ROOT

SCRIPT = ROOT / "scripts" / "reference"


def test_the_pages_are_what_the_code_says():
    words = [sys.executable, str(SCRIPT), "--check"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = len(list((ROOT / "docs" / "reference").glob("*.md")))
    assert done.stdout == f"{pages + 1} pages are what the code says\n"


def run_elsewhere(pages: Path, *edits: str) -> subprocess.CompletedProcess[str]:
    """The check with some of its modules changed, over a folder of its own, without gdb."""
    lines = [
        f"import sys, pathlib; sys.path.insert(0, {str(SCRIPT)!r}); sys.argv = ['reference', '--check']",
        "import __main__, importlib.util, launch, session",
        f"spec = importlib.util.spec_from_file_location('made', {str(SCRIPT / '__main__.py')!r})",
        "made = importlib.util.module_from_spec(spec); spec.loader.exec_module(made)",
        f"made.DOCS = pathlib.Path({str(pages)!r})",
        "made._MAKERS = {'launch': launch.page}; made.PAGES = ()",
        *edits,
        "sys.exit(made.main())",
    ]
    return subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "reference").mkdir(parents=True)
    (docs / "reference" / "launch.md").write_text((ROOT / "docs" / "reference" / "launch.md").read_text())
    (docs / "sessions.md").write_text((ROOT / "docs" / "sessions.md").read_text())
    return docs


def test_a_stale_page_and_a_stale_table_are_named(pages):
    assert run_elsewhere(pages).returncode == 0
    launch, sessions = pages / "reference" / "launch.md", pages / "sessions.md"
    launch.write_text(launch.read_text().replace("stopOnEntry", "stopAtEntry"))
    sessions.write_text(sessions.read_text().replace("its command line", "its arguments"))
    done = run_elsewhere(pages)
    assert done.returncode == 1
    assert "docs/reference/launch.md is stale" in done.stdout
    assert "docs/sessions.md is stale" in done.stdout
    assert "stopAtEntry" in launch.read_text(), "a check writes nothing"


def test_a_public_name_without_a_docstring_is_named(pages):
    bare = "type('Bare', (), {'__module__': 'pyharness.bare', 'go': lambda self: None})"
    page = "made.PAGES = (type('P', (), {'module': 'pyharness', 'names': lambda self: {'Bare': BARE}})(),)"
    done = run_elsewhere(pages, f"BARE = {bare}", page)
    assert done.returncode == 1
    assert done.stdout.splitlines() == ["pyharness.Bare has no docstring", "pyharness.Bare.go has no docstring"]
