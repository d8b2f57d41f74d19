"""``pyharness attach``: the right process, or a message that says why not; gdb itself is run once."""

import os
import subprocess
import sys

import pytest
from words_program import WORDS

from pyharness.debugger.api.attach import attach
from pyharness.debugger.starting import processes
from pyharness.model.errors import HarnessError, UsageError


@pytest.fixture
def waiting():
    """Start a program that waits, with a mark in its command line; its process."""
    running = []

    def start(mark, *before):
        command = [*before, sys.executable, WORDS, "wait", mark]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        running.append(process)
        while process.stdout.readline() != "waiting\n":
            assert process.poll() is None
        return process

    yield start
    for process in running:
        process.communicate("\n", timeout=20)


def test_a_process_is_found_by_a_part_of_its_command_line(waiting):
    process = waiting("mark-alone")
    assert processes.find("mark-alone") == process.pid
    assert processes.find(str(process.pid)) == process.pid
    processes.check(process.pid)


def test_the_python_is_meant_rather_than_what_started_it(waiting):
    wrapper = waiting("mark-wrapped", "timeout", "60")
    found = processes.find("mark-wrapped")
    assert found != wrapper.pid
    assert processes._executable(found).startswith("python")


def test_the_program_is_meant_rather_than_its_workers():
    forks = "import os, sys; os.fork(), os.fork(); print(flush=True); sys.stdin.readline()"
    with subprocess.Popen([sys.executable, "-c", forks, "mark-workers"], stdin=-1, stdout=-1, text=True) as program:
        for _ in range(4):
            program.stdout.readline()
        assert processes.find("mark-workers") == program.pid
        with subprocess.Popen(
            [sys.executable, "-c", forks, "mark-workers", "2"], stdin=-1, stdout=-1, text=True
        ) as two:
            for _ in range(4):
                two.stdout.readline()
            with pytest.raises(UsageError, match="2 processes") as error:
                processes.find("mark-workers")
            assert [line.split()[0] for line in error.value.message.splitlines()[1:]] == sorted(
                map(str, (program.pid, two.pid)), key=int
            )


def test_candidates_are_listed(waiting):
    first, second = waiting("mark-twice"), waiting("mark-twice")
    with pytest.raises(UsageError, match="2 processes") as error:
        processes.find("mark-twice")
    assert str(first.pid) in error.value.message
    assert str(second.pid) in error.value.message


def test_nobody_is_found():
    with pytest.raises(UsageError, match="No process of yours"):
        processes.find("surely-nothing-is-called-so")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with pytest.raises(UsageError, match=f"There is no process {ended.pid}"):
        processes.find(str(ended.pid))


def test_what_keeps_a_debugger_away_is_said_beforehand(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_PROC", tmp_path)
    monkeypatch.setattr(processes, "_YAMA", tmp_path / "scope")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    (tmp_path / "7").mkdir()
    status, scope = tmp_path / "7" / "status", tmp_path / "scope"
    for text, yama, message in (
        ("State:\tZ (zombie)\n", "0", "has ended"),
        ("State:\tS\nTracerPid:\t0\nUid:\t0\t0\t0\t0\n", "0", "another user"),
        ("State:\tS\nTracerPid:\t0\nUid:\t1000\t0\t0\t0\n", "2\n", "only root"),
        ("State:\tS\nTracerPid:\t0\nUid:\t1000\t0\t0\t0\n", "3\n", "nobody"),
    ):
        status.write_text(text)
        scope.write_text(yama)
        with pytest.raises(HarnessError, match=message):
            processes.check(7)
    scope.write_text("1\n")
    processes.check(7)


def test_without_gdb_there_is_a_remedy(pyharness, environment, tmp_path):
    result = pyharness("attach", os.getpid(), env={**environment, "PATH": str(tmp_path), "PYHARNESS_GDB": ""})
    assert result.returncode == 1
    assert "gdb was not found" in result.stderr
    assert "apt-get install gdb" in result.stderr


def test_what_the_command_comes_of_is_refused(pyharness):
    result = pyharness("attach", os.getpid())
    assert (result.returncode, result.stdout) == (1, "")
    assert "is an ancestor of this debugger" in result.stderr
    with pytest.raises(HarnessError, match="is the debugger itself"):
        attach(os.getpid())
    with pytest.raises(HarnessError, match="is an ancestor of this debugger"):
        attach(os.getppid())


@pytest.mark.parametrize("command", ["attach", "stack", "doctor"])
def test_nothing_names_no_process(pyharness, command):
    result = pyharness(command, " ")
    assert result.returncode == 2
    assert "' ' names no process" in result.stderr


def test_gdb_is_on_the_process_with_our_commands(waiting, pyharness):
    process = waiting("mark-gdb")
    result = pyharness("attach", "mark-gdb", "--", "-batch", "-ex", "info inferiors", "-ex", "ph-help")
    assert f"Attached to {process.pid}" in result.stdout, result.stderr
    assert f"process {process.pid}" in result.stdout
    assert "ph-bt" in result.stdout
    assert process.poll() is None


def test_gdb_goes_on_to_the_end(pyharness, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    script = "import sys; print('waits', flush=True); open(sys.argv[1]).read()"
    with subprocess.Popen([sys.executable, "-c", script, fifo], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "waits\n"
        ends = f"shell (echo > {fifo}) &"
        result = pyharness("attach", str(process.pid), "--", "-batch", "-ex", ends, "-ex", "continue")
    assert "Python Exception" not in result.stderr
    assert "exited normally" in result.stdout
