"""Strangers who try every socket that some processes listen on: another user, and one of this user without a token."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from pyharness.dapwire.wire import Decoder

NOBODY = 65534
LISTENS = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
ACCEPTS = 0x10000
"""``__SO_ACCEPTCON``, among the flags in /proc/net/unix."""
# Says DAP and lines of JSON to a socket, and prints what comes back within half a second or before it is hung up.
STRANGER = """
import json, os, socket, sys
family, address, user = sys.argv[1:]
os.setresuid(int(user), int(user), int(user))
asked = [
    {"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "debugpy"}},
    {"seq": 2, "type": "request", "command": "attach", "arguments": {"processId": 1}},
    {"seq": 3, "type": "request", "command": "evaluate", "arguments": {"expression": "6 * 7", "context": "repl"}},
    {"seq": 4, "type": "request", "command": "pydevdSystemInfo"},
]
stranger = socket.socket(socket.AF_UNIX if family == "unix" else socket.AF_INET)
stranger.settimeout(0.5)
try:
    stranger.connect(address.replace("@", chr(0), 1) if family == "unix" else ("127.0.0.1", int(address)))
    for message in map(json.dumps, asked):
        stranger.sendall(f"Content-Length: {len(message)}\\r\\n\\r\\n{message}".encode())
    stranger.sendall(b'{"type": "child", "handle": "x", "name": "x"}\\n{"debugpy": ""}\\n')
    while data := stranger.recv(65536):
        sys.stdout.buffer.write(data)
except OSError as error:
    print(type(error).__name__, file=sys.stderr)
"""


def _sockets(pid):
    """Inodes of the sockets that a process has open."""
    for entry in Path(f"/proc/{pid}/fd").glob("*"):
        with contextlib.suppress(OSError):
            if (name := str(entry.readlink())).startswith("socket:["):
                yield name[8:-1]


def listening(pids):
    """(family, address) of what these processes listen on."""
    own = {inode for pid in pids for inode in _sockets(pid)}
    for table, state in LISTENS.items():
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == state and fields[9] in own:
                yield table, str(int(fields[1].rpartition(":")[2], 16))
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[3], 16) & ACCEPTS and fields[6] in own:
            yield "unix", fields[7]


def assert_let_nobody_in(pids, ports=()):
    """No TCP port but ``ports`` listens, and nobody who tries any socket is told or given anything; what listens."""
    found = set(listening(pids))
    assert {address for family, address in found if family != "unix"} == set(map(str, ports))
    for family, address in found:
        for user in {os.geteuid(), NOBODY} if os.geteuid() == 0 else {os.geteuid()}:
            command = [sys.executable, "-I", "-S", "-c", STRANGER, family, address, str(user)]
            asked = subprocess.run(command, capture_output=True, timeout=60, check=True)
            _assert_refused(asked.stdout, f"{family} {address}, user {user}")
    return found


def _assert_refused(said, who):
    for message in Decoder().feed(said):
        assert isinstance(message, dict), f"{who}: {said}"
        done = message["type"] == "response" and message["success"]
        assert not done or message["command"] == "initialize", f"{who}: {message}"
    assert said.startswith(b"Content-Length") or not said, f"{who}: {said}"
