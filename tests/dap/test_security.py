"""Who may debug through a port: a client of this user that has the token; nobody else, and no web page."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest
from debugging import Debugging

from kit.command import PYHARNESS
from kit.paths import PROGRAMS

TARGET = str(PROGRAMS / "plain_lines.py")
GUESS = "guess"
REFUSED = "Give the token that the server printed"


@pytest.fixture
def first(dap):
    """A client that debugs, of a server that others can reach too."""
    client = dap.tcp()
    program = Debugging(client, TARGET).launch("inner", token=dap.token)
    program.stood()
    return program


def reachable(port):
    """The addresses of this machine on which something listens at the port."""
    listening = "0A"
    addresses = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            address, _, number = fields[1].partition(":")
            if int(number, 16) == port and fields[3] == listening:
                addresses.add(address)
    return addresses


def test_only_the_loopback_interface_is_bound(dap):
    dap.tcp()
    assert reachable(dap.port) == {"0100007F"}


def test_a_port_that_is_taken(dap):
    dap.tcp()
    done = subprocess.run([*PYHARNESS, "dap", "--port", str(dap.port)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    said = f"Port {dap.port} cannot be listened on: address already in use.\nName another, or 0."
    assert done.stderr == f"pyharness: {said}\n"


def test_a_second_client_without_the_token_starts_nothing(dap, first, tmp_path):
    second, trace = Debugging(dap.connect(), TARGET), tmp_path / "trace"
    second.initialize()
    before = dap.family()
    asked = {"program": str(PROGRAMS / "plain_lines.py"), "env": {"PYTHONBREAKPOINT": str(trace)}}
    assert REFUSED in second.client.refused("launch", **asked)
    assert "not this server's token" in second.client.refused("launch", token=GUESS, **asked)
    assert "not this server's token" in second.client.refused("launch", token=f"{GUESS}\ud800", **asked)
    assert "nothing to restart" in second.client.refused("restart", arguments=asked)
    assert REFUSED in second.client.refused("attach", processId=next(iter(before)))
    assert dap.family() == before
    assert first.client.request("threads")["threads"]


@pytest.mark.rotated
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("evaluate", {"expression": "1"}),
        ("evaluate", {"expression": "native:1", "context": "repl"}),
        ("setVariable", {"variablesReference": 1, "name": "x", "value": "1"}),
        ("setBreakpoints", {"source": {"path": TARGET}, "breakpoints": [{"line": 1, "logMessage": "{1}"}]}),
        ("threads", {}),
        ("source", {"sourceReference": 0, "source": {"path": TARGET}}),
        ("configurationDone", {}),
        ("terminateThreads", {"threadIds": [1]}),
    ],
)
def test_a_client_that_was_not_accepted_asks_in_vain(dap, first, command, arguments):
    second = dap.connect()
    second.refused(command, **arguments)
    second.request("initialize", adapterID="pyharness")
    second.refused(command, **arguments)
    assert first.evaluate("1 + 1", first.stack(first.client.request("threads")["threads"][0]["id"])[0]["id"]) == "2"


def test_a_second_client_cannot_end_the_first_ones_program(dap, first):
    second = dap.connect()
    second.request("initialize", adapterID="pyharness")
    second.request("terminate")
    second.request("disconnect", terminateDebuggee=True)
    second.wait_end()
    assert first.client.request("threads")["threads"]


def test_a_second_client_with_the_token_debugs_beside_the_first(dap, first):
    second = Debugging(dap.connect(), TARGET).launch("inner", token=dap.token)
    assert second.stood().function == "inner"
    assert second.client.request("threads")["threads"] != first.client.request("threads")["threads"]
    second.leave()
    assert first.client.request("threads")["threads"]


@pytest.mark.parametrize(("token", "answer"), [({}, REFUSED), ({"token": GUESS}, "not this server's token")])
def test_an_only_client_needs_the_token(dap, token, answer):
    program = Debugging(dap.tcp(), TARGET)
    program.initialize()
    assert answer in program.client.refused("launch", program=TARGET, **token)
    assert dap.token not in program.client.story()


def test_the_environment_can_name_the_token(dap):
    chosen = GUESS * 5
    client = dap.tcp(PYHARNESS_TOKEN=chosen)
    assert Debugging(client, TARGET).launch("inner", token=chosen).stood().function == "inner"
    assert dap.token == chosen


def test_a_token_that_can_be_guessed_is_refused():
    command = [*PYHARNESS, "dap", "--port", "0"]
    environment = {**os.environ, "PYHARNESS_TOKEN": "x" * 23}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "$PYHARNESS_TOKEN has 23 characters" in done.stderr


@pytest.mark.parametrize(
    "head", ["POST / HTTP/1.1", "POST http://127.0.0.1/ HTTP/1.1", "GET /x HTTP/1.0", "\x16\x03\x01"]
)
def test_what_a_browser_sends_is_no_client(dap, head):
    dap.tcp()
    asked = {"seq": 1, "type": "request", "command": "launch", "arguments": {"program": TARGET}}
    body = json.dumps(asked)
    smuggled = f"Content-Length: {len(body)}\r\n\r\n{body}"
    before = dap.family()
    with socket.create_connection(("127.0.0.1", dap.port)) as browser:
        browser.sendall(f"{head}\r\nHost: 127.0.0.1\r\nContent-Length: {len(smuggled)}\r\n\r\n{smuggled}".encode())
        said = b"".join(iter(lambda: browser.recv(65536), b""))
    assert b'"success":true' not in said
    assert dap.family() == before


def test_the_token_is_long_and_new_each_time(dap):
    dap.tcp()
    one = dap.token
    dap.tcp()
    assert one != dap.token
    assert len(one) >= 32
