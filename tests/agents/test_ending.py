"""What ends a server: the client's leaving or a signal; and that nothing of what it has started is left then."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid

import pytest

from kit.paths import PROGRAMS
from kit.processes import carrying
from pyharness.project.own_command import own_command

DEAF = """
import signal, time
for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(each, signal.SIG_IGN)
open("deaf", "w").close()
while True:
    time.sleep(1)
"""
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}


class Raw:
    """A server whose client writes lines: one that can leave at any moment, and whose exit status is seen."""

    def __init__(self, folder):
        self.mark = f"PYHARNESS_TEST={uuid.uuid4().hex}"
        name, _, value = self.mark.partition("=")
        self.process = subprocess.Popen(
            own_command(sys.executable, "mcp"),
            cwd=folder,
            env={**os.environ, name: value},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._count = 0
        self.answer(self.ask("initialize", HELLO))
        self._write({"method": "notifications/initialized"})

    def _write(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self._count += 1
        self._write({"id": self._count, "method": method, "params": params})
        return self._count

    def begin(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def answer(self, number):
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == number:
                return message["result"]
        raise AssertionError(self.process.stderr.read())

    def left(self):
        """Processes that it has started, when these have had a moment to go."""
        over = time.monotonic() + 2
        while (found := list(carrying(self.mark))) and time.monotonic() < over:
            time.sleep(0.05)
        return found

    def close(self):
        self.process.kill()
        self.process.wait()
        for each in (self.process.stdin, self.process.stdout, self.process.stderr):
            each.close()
        for pid, _ in carrying(self.mark):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def raw(tmp_path):
    (tmp_path / "deaf.py").write_text(DEAF)
    (tmp_path / "served.py").write_text((PROGRAMS / "served.py").read_text())
    server = Raw(tmp_path)
    yield server
    server.close()


@pytest.mark.rotated
@pytest.mark.parametrize("number", [0, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_nothing_outlives_a_server_that_ends(number, raw, tmp_path):
    raw.answer(raw.begin("start", script="served.py"))
    raw.answer(raw.begin("start", script="served.py", args=["never"], run=True, timeout_s=0.5))
    raw.begin("check", what="crash", script="deaf.py", hang_s=100)
    while not (tmp_path / "deaf").exists():
        time.sleep(0.02)
    if number:
        raw.process.send_signal(number)
    else:
        raw.process.stdin.close()
    assert raw.process.wait(5) == (128 + number if number else 0)
    assert raw.left() == []
    assert raw.process.stderr.read() == ""


def test_a_start_that_is_on_its_way_ends_with_the_client(raw):
    raw.begin("start", script="served.py", args=["never"], run=True)
    while len(list(carrying(raw.mark))) < 2:
        time.sleep(0.005)
    raw.process.stdin.close()
    assert raw.process.wait(5) == 0
    assert raw.left() == []
    assert raw.process.stderr.read() == ""
