"""Where things lie in this clone or source distribution."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
PROGRAMS = TESTS / "programs"
EXAMPLES = ROOT / "examples"
SITE = TESTS / "kit" / "site"
"""The folder of the ``sitecustomize`` that each Python program of the tests runs."""
BUILT = ROOT / "build" / "tests"
"""What tests compile is kept here, one file for each content."""


def search_path(*folders: str | Path) -> str:
    """``PYTHONPATH`` of programs that import from the clone and from ``folders``."""
    return before_others(ROOT, *folders)


def before_others(*folders: str | Path) -> str:
    """``PYTHONPATH`` with ``folders`` before what it has: the ``sitecustomize`` of ``SITE`` stays."""
    return os.pathsep.join(filter(None, [*map(str, folders), os.environ.get("PYTHONPATH", "")]))
