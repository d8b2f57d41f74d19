"""Debuggers whose session is over are found, with the command that ends them; those that serve somebody are not."""

import os
import signal
import subprocess
import sys

import pytest

from pyharness.doctor.system import left_behind
from pyharness.gdbmi.client import find_gdb

GDB = [find_gdb(), "-nx", "-q", "--interpreter=mi3"]
# Starts a debugger with a pipe as its input, stops it so that it cannot hear the end of that, and is gone.
GONE = """
import os, signal, subprocess, sys
null = subprocess.DEVNULL
debugger = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=null, stderr=null, start_new_session=True)
os.kill(debugger.pid, signal.SIGSTOP)
print(debugger.pid, flush=True)
os._exit(0)
"""


@pytest.fixture
def orphan():
    made = []

    def make(*command):
        said = subprocess.run([sys.executable, "-c", GONE, *command], capture_output=True, text=True, check=True)
        made.append(int(said.stdout))
        return made[-1]

    yield make
    for pid in made:
        os.kill(pid, signal.SIGKILL)


LOADED = ["/lib64/ld-linux-x86-64.so.2", "--library-path", "/nowhere", *GDB]
"""As the gdb of the extra ``[gdb]`` runs."""
ADAPTER = [sys.executable, "-m", "debugpy.adapter"]


@pytest.mark.parametrize("command", [GDB, LOADED, ADAPTER], ids=["gdb", "loaded", "adapter"])
def test_one_whose_session_is_gone(orphan, examined, command):
    pid = orphan(*command)
    found = examined(left_behind.debuggers)["left-behind"]
    assert (found.state, str(pid) in found.remedy.split(), found.remedy.split()[0]) == ("warning", True, "kill")
    assert "every user" in found.seen or "debugpy.adapter" not in command


def test_one_that_serves_somebody(examined):
    with subprocess.Popen(GDB, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as gdb:
        assert str(gdb.pid) not in examined(left_behind.debuggers)["left-behind"].remedy.split()
        gdb.stdin.close()
