"""What every verb shares, and the small verbs: help, --version, errors, gdb-script."""

import json
import os
import stat
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from pyharness import __version__, cli
from pyharness.cli.kit import output
from pyharness.cli.version import versions
from pyharness.model.errors import HarnessError


def test_help_lists_the_verbs_and_imports_none(environment):
    code = (
        "import sys; from pyharness import cli; cli.execute(['--help']);"
        "print([name for name in ('torch', 'rich', 'debugpy', 'json', 'pyharness.debugger') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert all(verb in result.stdout for verb in cli.VERBS)
    assert result.stdout.endswith("[]\n")


def test_a_mistyped_verb_offers_the_nearest(capsys):
    assert cli.execute(["stpe"]) == 2
    assert "Did you mean step" in capsys.readouterr().err


def test_version_says_which_build_and_which_debuggers(pyharness):
    result = pyharness("--version")
    assert result.returncode == 0, result.stderr
    first, engine, torch, debugpy, gdb, python = result.stdout.splitlines()
    assert first == f"pyharness {__version__}"
    assert engine.startswith("engine ")
    assert all(line.split()[1] for line in (torch, debugpy, gdb, python))


def test_version_imports_no_torch_and_needs_no_gdb(pyharness, environment, tmp_path):
    empty = {**environment, "PATH": str(tmp_path)}
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')\n")
    empty["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{environment['PYTHONPATH']}"
    result = pyharness("--version", env=empty)
    assert result.returncode == 0, result.stderr
    assert "gdb       not installed" in result.stdout
    found = json.loads(pyharness("--version", "--json", env=empty).stdout)
    assert found["gdb"] == {"version": None, "file": None}
    assert found["pyharness"]["version"] == __version__
    assert set(found) == {"pyharness", "engine", "torch", "debugpy", "gdb", "python"}


def test_version_names_the_gdb_of_this_environment(monkeypatch, tmp_path):
    scripts = tmp_path / "bin"
    scripts.mkdir()
    own = scripts / "gdb"
    own.write_text("#!/bin/sh\necho GNU gdb '(GDB)' 18.1\n")
    own.chmod(0o755)
    monkeypatch.setattr(sysconfig, "get_path", lambda *_: str(scripts))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PYHARNESS_GDB", raising=False)
    assert versions()["gdb"] == {"version": "18.1", "file": str(own)}


def test_gdb_script_is_a_file(capsys):
    assert cli.execute(["gdb-script"]) == 0
    assert Path(capsys.readouterr().out.strip()).is_file()


@pytest.fixture
def failing(monkeypatch):
    """A verb that raises."""

    def fail_with(error):
        def fail(*_args, **_options):
            raise error

        monkeypatch.setattr(cli.command, "invoke", fail)

    return fail_with


def test_a_harness_error_is_its_message_and_remedy(failing, capsys):
    failing(HarnessError("It broke.", "Mend it."))
    assert cli.execute(["step"]) == 1
    assert capsys.readouterr().err == "pyharness: It broke.\nMend it.\n"


def test_an_unexpected_error_is_called_a_bug_and_its_traceback_can_be_had(failing, capsys, monkeypatch):
    failing(KeyError("x"))
    assert cli.execute(["step"]) == 1
    assert "bug in pyharness" in capsys.readouterr().err
    monkeypatch.setenv("PYHARNESS_TRACEBACK", "1")
    with pytest.raises(KeyError):
        cli.execute(["step"])


def test_progress_is_for_terminals_only(capsys, monkeypatch):
    monkeypatch.setattr(output, "_PATIENCE", 0)
    output.progress("attaching")
    output.progress.clear()
    assert capsys.readouterr().err == ""
    assert output.progress._timer is None


def test_a_terminal_gets_colour(environment, tmp_path):
    script = tmp_path / "typescript"
    command = ["script", "-qefc", f"{sys.executable} -m pyharness nope", str(script)]
    result = subprocess.run(command, env={**environment, "TERM": "xterm"}, capture_output=True, text=True, check=False)
    assert "\x1b[31mpyharness:" in result.stdout
    assert stat.S_ISREG(script.stat().st_mode)
