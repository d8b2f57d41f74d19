"""The folder to work in was removed, or is none: programs run as without us, and what cannot be is one sentence."""

import json
import os
import subprocess
import sys

import pytest

import pyharness
from kit.command import PYHARNESS
from pyharness.debugger.starting.launch import Command
from pyharness.model.errors import DebuggerLostError, HarnessError, UsageError

pytestmark = pytest.mark.rotated_tests(turns=2)

_REMOVED = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
_API = """
import sys, pyharness
with pyharness.debug(sys.argv[1]) as program:
    print(program.run_to(f"py:{sys.argv[1]}:2").frame.line, flush=True)
"""
_HANGS_UP = """
import os, socket
words = open("/proc/self/cmdline").read().split("\\0")
if "--debugpy" in words:
    socket.socket(fileno=os.dup(int(words[words.index("--debugpy") + 1]))).shutdown(socket.SHUT_RDWR)
"""
"""Before a line of ours runs: debugpy will find nobody at the other end."""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "plain.py"
    path.write_text("import sys\nprint('ran', sys.argv[1:])\n")
    return path


@pytest.fixture
def removed(environment, tmp_path):
    """Run a command where the current folder is no more."""

    def run(*words):
        command = ["sh", "-c", _REMOVED, "sh", *map(str, words)]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def test_step_in_a_removed_folder(removed, script):
    done = removed(*PYHARNESS, "step", script, "--at", f"py:{script}:2", "--", "a")
    assert (done.returncode, done.stderr) == (0, "")
    assert "ran ['a']" in done.stdout
    assert "plain.py:2" in done.stdout


def test_a_module_in_a_removed_folder(removed):
    for verb in ("step", "run"):
        done = removed(*PYHARNESS, verb, "-m", "timeit", *["--"] * (verb == "step"), "-n", "1", "-r", "1", "pass")
        assert done.returncode == 0, done.stderr
        assert "1 loop" in done.stdout


def test_the_api_in_a_removed_folder(removed, script):
    done = removed(sys.executable, "-c", _API, script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_a_meeting_in_a_removed_folder(removed, script):
    meet = [sys.executable, "-m", "pyharness.debuggee.meet", "--within", "0.1"]
    done = removed(*meet, "--key", "it", script)
    assert "No gdb came within 0.1 s for 'it'" in done.stderr
    assert "--key names nothing" in removed(*meet, script).stderr


@pytest.mark.parametrize("option", [("--report", "out"), ("--asan",)])
def test_a_report_in_a_removed_folder(removed, script, option):
    done = removed(*PYHARNESS, "run", *option, script)
    assert (done.returncode, done.stdout) == (2, "")
    assert "This folder has been removed." in done.stderr


def test_init_in_a_removed_folder(removed):
    done = removed(*PYHARNESS, "init")
    assert (done.returncode, done.stdout) == (2, "")
    assert "This folder has been removed." in done.stderr


@pytest.mark.parametrize("name", ["nowhere", "plain.py"])
def test_a_folder_that_is_none(script, name):
    folder = str(script.parent / name)
    with pytest.raises(UsageError, match=r"folder .*for the program to work in"):
        pyharness.debug(str(script), cwd=folder)


@pytest.mark.parametrize("env", [{"A=B": "c"}, {"": "c"}, {"N": "a\0b"}, {"N\0": "a"}])
def test_an_environment_that_cannot_be(script, env):
    with pytest.raises(UsageError, match=r"name of an environment variable|NUL"):
        Command(str(script), env=env).check()


def test_an_argument_that_cannot_be(script):
    with pytest.raises(UsageError, match="NUL"):
        Command(str(script), ["a\0b"]).check()


def test_a_session_says_so_when_it_is_checked(pyharness, script):
    session = script.parent / "it.toml"
    session.write_text(f'program.script = {json.dumps(str(script))}\nprogram.cwd = "/nowhere/at/all"\n')
    for verb in ("check", "run"):
        done = pyharness("session", verb, session)
        assert done.returncode == 2, done.stderr + done.stdout
        assert "There is no folder '/nowhere/at/all'" in done.stderr


def test_debugpy_that_is_lost_before_the_program_begins(script, tmp_path):
    """It is not told that the program runs on: it never began."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(_HANGS_UP)
    with pytest.raises(HarnessError) as caught:
        pyharness.debug(str(script), env={"PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), *sys.path])})
    assert isinstance(caught.value, DebuggerLostError)
    assert caught.value.remedy == "The program was ended before its first line."
