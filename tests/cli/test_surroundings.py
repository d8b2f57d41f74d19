"""Output that is not a wide UTF-8 terminal with colours: pipes that close, ASCII, no stream at all, Ctrl-C."""

import os
import signal
import subprocess
import sys

import pytest

import pyharness as in_process
from kit.builds import crossing
from kit.command import PYHARNESS
from pyharness.host.exit_status import ExitStatus, of_program
from pyharness.model.errors import HarnessError

pytestmark = pytest.mark.rotated_tests(turns=5)


SIGNS = "from pyharness.cli.kit import output; output.write('a → b … c · d │ e ↔ é')"


@pytest.fixture
def shell(environment, tmp_path):
    """Run a line of bash in which ``pyharness`` is ours, with what is added to the environment."""

    def run(line, **more):
        words = ["bash", "-c", f'pyharness() {{ "{sys.executable}" -m pyharness "$@"; }}; {line}']
        words = ["env", *(f"{name}={value}" for name, value in more.items()), *words]
        return subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def test_a_reader_that_leaves_is_no_error(shell):
    done = shell("pyharness gdb-script | true; echo ${PIPESTATUS[0]}; pyharness --help | true; echo ${PIPESTATUS[0]}")
    assert done.stderr == ""
    assert set(map(int, done.stdout.split())) <= {ExitStatus.OK, ExitStatus.UNREAD}


def test_a_pipe_that_nobody_reads_any_more(environment):
    reading, writing = os.pipe()
    os.close(reading)
    command = [*PYHARNESS, "step", "--help"]
    done = subprocess.run(command, env=environment, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (ExitStatus.UNREAD, b"")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["gdb-script", "--help", "step --help", "fx --help", "dap --port 0"])
def test_a_full_disk_is_said(shell, words, unbuffered):
    done = shell(f"pyharness {words} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert "Standard output cannot be written: No space left" in done.stderr


def test_closed_streams(shell):
    assert shell("pyharness gdb-script >&-").returncode == 0
    assert shell("pyharness nope 2>&-").returncode == 2


@pytest.mark.parametrize("more", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "ascii"}])
def test_other_encodings_get_plain_signs(environment, more):
    code = f"from pyharness.cli.kit import streams; streams.prepare(); {SIGNS}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={**environment, **more}, capture_output=True, check=True)
    encoding = more.get("PYTHONIOENCODING", "utf-8")
    shown = done.stdout.decode(encoding).strip()
    signs = {"utf-8": "a → b … c · d │ e ↔ é", "latin-1": "a -> b ... c · d | e ? é"}
    assert shown == signs.get(encoding, "a -> b ... c - d | e ? ?")


@pytest.mark.parametrize(
    ("more", "coloured"), [({"TERM": "xterm"}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_is_for_terminals_that_want_it(shell, more, coloured):
    done = shell(f"script -qec '{sys.executable} -m pyharness nope' /dev/null", **{"TERM": "xterm", **more})
    assert ("\x1b[" in done.stdout) is coloured, done.stdout
    assert "There is no verb" in done.stdout


def test_ctrl_c_leaves_nothing_and_no_traceback(started, tmp_path):
    """In our own process, where a pass of the user's runs; programs of their own are tested with their verbs."""
    (tmp_path / "net.py").write_text("import sys, time\nprint('begun', flush=True)\ntime.sleep(300)\n")
    process = started("fx", "verify", "net.py:Net", "net.py:fuse")
    assert process.stdout.readline() == "begun\n"
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (ExitStatus.INTERRUPTED, "", "")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_statuses_are_those_of_a_shell():
    assert [status.value for status in ExitStatus] == [0, 1, 2, 130, 141, 143]
    assert [of_program(code) for code in (0, 3, -11)] == [0, 3, 139]


@pytest.mark.parametrize("package", ["pyharness.cli", "click"])
def test_ctrl_c_before_all_is_imported_is_silent(environment, package):
    code = (
        "import os, signal, sys\n"
        "class Strikes:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {package!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Strikes())\n"
        "from pyharness.__main__ import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (ExitStatus.INTERRUPTED, b"", b"")


@pytest.mark.parametrize("limit", [6, 8])
def test_too_few_files_are_said(shell, tmp_path, limit):
    (tmp_path / "ok.py").write_text("x = 1\n")
    done = shell(f"ulimit -n {limit}; pyharness step ok.py --at py:ok.py:1")
    assert done.returncode == 1
    assert "bug in pyharness" not in done.stderr
    assert "Too many open files" in done.stderr
    assert "ulimit -n" in done.stderr


def test_arguments_that_are_too_long_for_the_kernel(pyharness, tmp_path):
    script = tmp_path / "ok.py"
    script.write_text("print('ran')\n")
    session = tmp_path / "long.toml"
    session.write_text(f'[program]\nscript="ok.py"\nargs=["{"x" * 200_000}"]\n[[step]]\nat="py:ok.py:1"\n')
    done = pyharness("session", "run", session)
    assert done.returncode == 1
    assert "too long for the kernel" in done.stderr
    assert "bug" not in done.stderr


def test_an_interpreter_that_does_not_begin_is_said_to_be_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("pyharness.debugger.starting.interpreter._PATIENCE", 0.1)
    monkeypatch.setattr("pyharness.debugger.shell._LATE_SECONDS", 0.1)
    script, waits, told = tmp_path / "ok.py", tmp_path / "waits", tmp_path / "told"
    script.write_text("print('ran')\n")
    os.mkfifo(told)
    waits.write_text(f"#!/bin/sh\nread line < {told}\n")
    waits.chmod(0o755)
    heard = []

    def note(text):
        heard.append(text)
        told.write_text("go on\n")  # opens when it waits

    with pytest.raises(HarnessError, match="ended before pyharness could connect to it"):
        in_process.debug(script, python=waits, notes=note)
    (text,) = heard
    assert "has not begun the program yet" in text


def test_a_folder_that_is_gone(shell, tmp_path):
    """Python in gdb does not start there."""
    (tmp_path / "calls.py").write_text("import sys\nsys.path.append(sys.argv[1])\nimport crossing\ncrossing.held(1)\n")
    step = f"pyharness step {tmp_path}/calls.py --at native:held -- {crossing()}"
    done = shell(f"mkdir gone; cd gone; rmdir ../gone; {step}")
    assert done.returncode == 0, done.stderr
    assert "breakpoint · native · crossing::held" in done.stdout
