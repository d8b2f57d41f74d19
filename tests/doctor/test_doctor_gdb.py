"""gdb that is missing, too old, untried, without Python, or whose Python does not start."""

import shutil

import pytest

from kit import needs
from pyharness.doctor import gdb

NO_PYTHON = r"""
case "$*" in
  *--version*) echo "GNU gdb (GDB) 14.2" ;;
  *) echo 'Scripting in the "Python" language is not supported in this copy of GDB.' >&2; exit 1 ;;
esac
"""


def test_the_gdb_that_is_here(examined):
    needs.a_program("gdb")
    found = examined(gdb.version)["gdb"]
    assert found.state in {"ok", "warning"}
    assert shutil.which("gdb") in found.seen
    python = examined(gdb.python)["gdb-python"]
    assert python.state == "ok"
    assert "our commands load" in python.seen


def test_no_gdb_on_the_path(examined, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = examined(gdb.version)["gdb"]
    assert found.state == "problem"
    assert "not found" in found.seen
    assert "apt-get install gdb" in found.remedy
    assert "pip install 'pyharness-debugger[gdb]'" in found.remedy


@pytest.mark.parametrize(
    ("said", "state", "part"),
    [
        ("GNU gdb (GDB) 8.3.1", "problem", "too old"),
        ("GNU gdb (GDB) 99.1", "warning", "newer than what was tried"),
        ("GNU gdb (Debian 16.3-1) 16.3", "ok", "gdb 16.3"),
        ("GNU gdb (GDB) 18.1", "ok", "gdb 18.1"),
        ("Fedora GNU gdb 14.2-1.fc40", "ok", "gdb 14.2"),
        ("not a debugger", "problem", "does not run as gdb"),
    ],
)
def test_versions(examined, monkeypatch, executable, said, state, part):
    monkeypatch.setenv("PATH", f"{executable('gdb', f'echo {said!r}').parent}:/bin")
    found = examined(gdb.version)["gdb"]
    assert (found.state, part in found.seen) == (state, True)
    assert found.remedy or state == "ok"


def test_one_that_does_not_start(examined, monkeypatch, executable):
    monkeypatch.setenv("PYHARNESS_GDB", str(executable("mygdb", "exit 3")))
    assert examined(gdb.version)["gdb"].state == "problem"


def test_one_without_python(examined, monkeypatch, executable):
    monkeypatch.setenv("PATH", f"{executable('gdb', NO_PYTHON).parent}:/bin")
    found = examined(gdb.python)["gdb-python"]
    assert found.state == "problem"
    assert "built without Python" in found.seen
    assert "gdb-minimal" in found.remedy


def test_one_whose_python_is_sent_elsewhere(examined, monkeypatch, tmp_path):
    needs.a_program("gdb")
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    found = examined(gdb.python)["gdb-python"]
    assert found.state == "problem"
    assert "PYTHONHOME" in found.remedy


def test_one_that_is_missing_is_reported_once(monkeypatch, tmp_path, examined):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = examined(gdb.python)["gdb-python"]
    assert (found.state, "Nothing to look at" in found.seen) == ("not applicable", True)
