"""Our half in the program runs under CPython 3.9, which is older than what the rest of pyharness needs."""

import ast
import subprocess

import pytest

from kit import needs
from kit.interpreters import interpreters
from kit.paths import ROOT

PACKAGE = ROOT / "pyharness"
FILES = [
    file
    for folder in ("debuggee", "host", "model", "native", "protocol")
    for file in sorted((PACKAGE / folder).rglob("*.py"))
]
IMPORTS = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
"""


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_its_syntax(file):
    ast.parse(file.read_text(), feature_version=(3, 9))


def test_what_a_session_imports():
    if "3.9" not in interpreters():
        needs.skip("there is no CPython 3.9")
    used = "link.session link.seat link.served link.children link.forked watched.generated watched.libraries"
    used += " watched.op_places agent doorway bounded lines.line_stops entries.late meet __main__"
    names = [f"pyharness.debuggee.{name}" for name in used.split()]
    command = [interpreters()["3.9"], "-c", IMPORTS, ROOT, *names]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
