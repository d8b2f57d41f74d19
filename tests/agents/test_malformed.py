"""Requests that no client should send: each gets an answer or nothing, the server goes on, and prints no traceback."""

import json
import os
import random
import subprocess
import sys
import threading

from kit.paths import PROGRAMS
from pyharness.project.own_command import own_command

COUNT = int(os.environ.get("PYHARNESS_RUNS", "2000"))
NAMES = (
    "start",
    "go",
    "look",
    "breakpoints",
    "stack",
    "graph",
    "check",
    "doctor",
    "end",
    "",
    "nosuch",
    "\x1b[31m",
    3,
    None,
)
KEYS = ("session", "how", "where", "count", "expressions", "show", "cursor", "set", "what", "names", "lines", "nosuch")
VALUES = (
    None,
    True,
    -1,
    0,
    2**70,
    1e308,
    "",
    "s1",
    "\x00",
    "\ud800",
    "../..",
    "x" * 5000,
    [],
    [[]],
    {},
    {"a": {}},
    ["s1", 3],
)
METHODS = ("tools/call", "tools/list", "resources/read", "resources/list", "ping", "initialize", "nosuch", "", 7, None)


def request(chance, number):
    """One line, more or less wrong."""
    arguments = {chance.choice(KEYS): chance.choice(VALUES) for _ in range(chance.randrange(4))}
    name = chance.choice(NAMES)
    if name in {"doctor", "check", "graph"} and not arguments:
        arguments["nosuch"] = 1  # each of these would do what it is for
    params = chance.choice(
        (arguments, [arguments], None, {"name": name, "arguments": arguments}, {"uri": "pyharness://x"})
    )
    if chance.random() < 0.7:
        message = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
    else:
        message = {"jsonrpc": chance.choice(("2.0", "1.0", 2)), "id": chance.choice((number, None, "x", [], 1.5))}
        message |= {"method": chance.choice(METHODS), "params": params}
    line = json.dumps(message)
    cut = chance.random()
    if cut < 0.05:
        return line[: chance.randrange(len(line))]
    if cut < 0.08:
        return line.replace('"', chance.choice(("'", "\x01", "")), 2)
    return line


def test_malformed_requests_leave_the_server_as_it_was():
    chance = random.Random(20)  # noqa: S311  (not for secrets)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "0"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        *(request(chance, number) for number in range(1, COUNT + 1)),
        json.dumps({"jsonrpc": "2.0", "id": "last", "method": "tools/list"}),
    ]
    process = subprocess.Popen(
        own_command(sys.executable, "mcp"),
        cwd=PROGRAMS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="surrogateescape",
    )
    answers, said = [], []
    readers = [
        threading.Thread(target=_read_until, args=(process.stdout, answers, '"id":"last"')),
        threading.Thread(target=_read_until, args=(process.stderr, said, None)),
    ]
    for each in readers:
        each.start()
    for line in lines:
        process.stdin.write(line.replace("\n", " ") + "\n")
    process.stdin.flush()
    readers[0].join(60 + COUNT / 50)
    process.stdin.close()
    assert process.wait(30) == 0, said
    readers[1].join(10)
    assert any('"id":"last"' in line for line in answers), answers[-3:]
    assert "bug in pyharness" not in "".join(answers)
    assert "Traceback" not in "".join(said), "".join(said)[-3000:]
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in answers), "each line is a message"


def _read_until(stream, lines, last):
    for line in stream:
        lines.append(line)
        if last and last in line:
            return
