"""A gdb that fails, or does not answer any more: that is said, it is gone, and it leaves nothing where we are."""

import os
import queue
import signal
import subprocess
from pathlib import Path

import pytest

from pyharness.gdbmi.client import GdbClient, GdbError, GdbLostError


def test_a_gdb_that_fails_ends_and_leaves_no_core(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notices = queue.SimpleQueue()
    gdb = GdbClient(notices.put)
    with pytest.raises(GdbLostError):
        gdb.console("maint internal-error on purpose")
    while notices.get(timeout=20) is not None:
        pass
    assert any("on purpose" in line for line in gdb.transcript)
    assert not gdb.close()
    assert not list(tmp_path.iterdir())


def test_a_gdb_that_is_deaf_when_its_program_has_ended_is_given_up():
    client = GdbClient(lambda _notice: None)
    client.command("-gdb-version")
    os.kill(client.pid, signal.SIGSTOP)
    client.target_is_gone = lambda: True
    with pytest.raises(GdbError, match="gdb did not answer -gdb-version after the program's end"):
        client.command("-gdb-version")
    with pytest.raises(GdbError, match="did not answer -list-features"):
        client.command("-list-features")
    assert not client.close()
    assert not Path(f"/proc/{client.pid}").exists()


def test_what_is_preloaded_into_the_program_is_not_into_gdb(monkeypatch):
    """With the address sanitizer, gdb would die before its first word."""
    named = [os.environ.get("CXX", "c++"), "-print-file-name=libasan.so"]
    library = subprocess.run(named, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(library).is_file()
    monkeypatch.setenv("LD_PRELOAD", library)
    client = GdbClient(lambda _notice: None)
    client.command("-gdb-version")
    assert "libasan" not in Path(f"/proc/{client.pid}/maps").read_text()
    assert client.close()


def test_a_command_that_lets_the_program_run_is_told_when_it_is_refused():
    notices = queue.SimpleQueue()
    client = GdbClient(notices.put)
    client.start("-exec-next")  # there is no program
    while (notice := notices.get(timeout=20)).kind != "refused":
        pass
    assert notice.values["msg"] == "The program is not being run."
    assert client.close()


@pytest.mark.parametrize("records", [["&{0}\\n", "&{1}"], ["&{0}\\n{1}\\n"]], ids=["13", "18"])
def test_what_it_says_of_a_condition_is_told_with_the_stop(tmp_path, monkeypatch, records):
    lines = [each.format("Error in testing condition for breakpoint 2:", "No such luck.") for each in records]
    said = "".join(f'{line[0]}"{line[1:]}"\n' for line in [*lines, ""] if line) + '*stopped,reason="breakpoint-hit"\n'
    (tmp_path / "said").write_text(said)
    (tmp_path / "gdb").write_text(f"#!/bin/sh\ncat {tmp_path}/said\n")
    (tmp_path / "gdb").chmod(0o755)
    monkeypatch.setenv("PYHARNESS_GDB", str(tmp_path / "gdb"))
    notices = queue.SimpleQueue()
    client = GdbClient(notices.put)
    assert notices.get(timeout=20).values["condition-error"] == "No such luck."
    client.close()
