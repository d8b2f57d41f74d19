"""A closed stream stays closed for the program: nothing of ours is found there, nobody reads or writes it."""

import socket
import subprocess
import sys

import pytest

from kit.command import PYHARNESS
from kit.paths import ROOT
from pyharness.host.descriptors import above_streams, socket_above_streams

STREAMS = """
import os
def target(number):
    try:
        return os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        return "closed"
found = [target(number) for number in (0, 1, 2)]
with open("streams", "w") as file:
    print(*("closed" if each.startswith("/proc/") else each for each in found), file=file)
"""
"""A thread of ours may be writing its name, for a moment."""
API = """
import pyharness
with pyharness.debug("streams.py") as program:
    program.run_to("py:streams.py:8")
    program.resume()
"""
CLOSED = ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]
VERBS = ["run", "run --nan", "step --at py:streams.py:8", "trace"]


@pytest.fixture
def seen(environment, tmp_path):
    """What the program finds as its streams, started by a line of bash."""
    (tmp_path / "streams.py").write_text(STREAMS)
    (tmp_path / "api.py").write_text(API)

    def run(line):
        words = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["bash", "-c", line], env=environment, cwd=tmp_path, timeout=120, check=False, **words)
        streams = (tmp_path / "streams").read_text()
        (tmp_path / "streams").unlink()
        return streams

    return run


@pytest.mark.rotated
@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("verb", VERBS)
def test_a_program_has_its_streams_as_without_us(seen, verb, closed):
    plain = seen(f"{sys.executable} streams.py {closed}")
    assert seen(f"{' '.join(PYHARNESS)} {verb} streams.py {closed}") == plain


@pytest.mark.parametrize("closed", CLOSED)
def test_a_program_that_python_debugs_has_them_too(seen, closed):
    plain = seen(f"{sys.executable} streams.py {closed}")
    assert seen(f"{sys.executable} api.py {closed}") == plain


def test_only_what_took_a_stream_is_moved():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert socket_above_streams(ours) is ours
        assert above_streams(theirs.fileno()) == theirs.fileno()
    code = (
        "import os, socket; os.close(0); from pyharness.host.descriptors import *;"
        "opened = socket_above_streams(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM));"
        "print(opened.fileno() > 2, opened.family.name, os.get_inheritable(opened.fileno()))\n"
        "with streams_held(): print(os.fstat(0).st_rdev == os.stat(os.devnull).st_rdev)\n"
        "os.fstat(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout == "True AF_UNIX False\nTrue\n"
    assert "Bad file descriptor" in done.stderr
