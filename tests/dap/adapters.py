"""Starts adapters for tests, and knows every process that came of them."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import uuid
from contextlib import contextmanager

from kit.command import PYHARNESS
from kit.dap_client import Client
from kit.processes import carrying, ends_within

OURS = (*PYHARNESS, "dap")


class Adapters:
    """The adapters of one test and their clients; the environment of all that they start carries a mark."""

    def __init__(self, folder, mark=""):
        self.mark = mark or f"PYHARNESS_TEST_MARK={uuid.uuid4()}"
        self._folder = folder
        self.processes = []
        self.clients = []
        self.listening = []
        self.port, self.token = 0, ""

    def stdio(self, command=OURS, **environment):
        """A client of a new adapter on its standard input and output."""
        process = self._start(command, environment, stdin=subprocess.PIPE)
        return self._client(process.stdout.fileno(), process.stdin.fileno(), process.stdin.close)

    def tcp(self, *options, **environment):
        """A client of a new adapter that listens; ``port`` and ``token`` are set."""
        process = self._start((*OURS, "--port", "0", *options), environment, stdin=subprocess.DEVNULL)
        self.listening.append(process)
        told = json.loads(process.stdout.readline())
        self.port, self.token = told["port"], told["token"]
        client = self.connect()
        client.token = {"token": self.token}
        return client

    def connect(self):
        """One more client of the adapter that listens."""
        connection = socket.create_connection(("127.0.0.1", self.port))

        def close():
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

        client = self._client(connection.fileno(), connection.fileno(), close)
        client.socket = connection
        return client

    def _start(self, command, environment, stdin):
        name, _, value = self.mark.partition("=")
        stderr = (self._folder / f"adapter-{len(self.processes)}.txt").open("wb")
        env = {**os.environ, **environment, name: value}
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, bufsize=0, env=env)
        stderr.close()
        self.processes.append(process)
        return process

    def _client(self, *ends):
        self.clients.append(Client(*ends))
        return self.clients[-1]

    def family(self):
        """Every process that came of these adapters and lives: pid and command line."""
        return dict(carrying(self.mark))

    def wait_gone(self, spared=(), seconds=20):
        """Wait until every process but ``spared`` ended; those that did not."""
        left = {}
        while family := {pid: line for pid, line in self.family().items() if pid not in {*spared, *left}}:
            left.update({pid: line for pid, line in family.items() if not ends_within(pid, seconds)})
        return left

    def close(self):
        """End everything, by force if it must be; what was left behind, which is a fault."""
        for client in self.clients:
            client.hang_up()
        for process in self.listening:
            process.terminate()  # it would serve others
        left = self.wait_gone()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self.processes:
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    stream.close()
        return left

    def story(self):
        """All that was said, for a test that failed."""
        parts = [f"--- client {number}\n{client.story()}" for number, client in enumerate(self.clients)]
        logs = sorted(self._folder.glob("adapter-*.txt"))
        return "\n".join(parts + [f"--- {log.name}\n{log.read_text(errors='replace')}" for log in logs])


@contextmanager
def adapters_in(folder):
    """Adapters that are held to the protocol, and to leave nothing behind."""
    adapters = Adapters(folder)
    yield adapters
    left = adapters.close()
    faults = [fault for client in adapters.clients for fault in client.faults]
    assert not faults, "\n".join(faults)
    assert not left, f"left behind: {left}"
