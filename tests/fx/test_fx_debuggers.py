"""pdb and debugpy stop on a line of a generated file."""

import json
import os
import socket
import subprocess
import sys

import pytest

from kit.paths import PROGRAMS, search_path
from pyharness.model.places import find
from pyharness.model.source_map import map_of

pytestmark = pytest.mark.rotated_tests(turns=2)

PROGRAM = PROGRAMS / "fx_materialized.py"
CONNECT = """
import debugpy, runpy, sys
debugpy.configure(subProcess=False)
print("listening", debugpy.listen(("127.0.0.1", 0))[1], flush=True)
debugpy.wait_for_client()
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.fixture
def start():
    started = []

    def run(*arguments):
        environment = os.environ | {"PYTHONPATH": search_path(), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        process = subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def place_of_relu(process):
    name, file = process.stdout.readline().split(" ", 1)
    assert name == "file", file
    entry = find(map_of(file.strip()), "relu")
    return file.strip(), entry.line


def test_pdb(start):
    process = start(PROGRAM, "--pdb")
    file, line = place_of_relu(process)
    out, _ = process.communicate(f"break {file}:{line}\ncontinue\nwhere\np y\nnext\np relu\nlist\ncontinue\n", 60)
    assert f"Breakpoint 1 at {file}:{line}" in out
    assert f"> {file}({line})forward()\n-> relu = torch.relu(tanh)" in out
    assert f"> {file}({line + 1})forward()" in out
    assert "(Pdb) tensor([0.7616, 0.7616])" in out
    assert f"{line} B\t    relu = torch.relu(tanh)" in out
    assert "result [1.76" in out


class Client:
    """As much of the debug adapter protocol as one breakpoint needs."""

    def __init__(self, port):
        self.stream = socket.create_connection(("127.0.0.1", port), 60).makefile("rwb")
        self.sent = 0
        self.seen = []

    def send(self, command, **arguments):
        self.sent += 1
        body = json.dumps({"seq": self.sent, "type": "request", "command": command, "arguments": arguments}).encode()
        self.stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.stream.flush()
        return self.sent

    def until(self, wanted):
        while True:
            length = 0
            while (header := self.stream.readline().strip()) or not length:
                assert header, self.seen
                length = int(header.partition(b":")[2])
            self.seen.append(json.loads(self.stream.read(length)))
            if wanted(self.seen[-1]):
                return self.seen[-1]

    def event(self, name):
        return self.until(lambda message: message.get("event") == name)

    def ask(self, command, **arguments):
        number = self.send(command, **arguments)
        answer = self.until(lambda message: message.get("request_seq") == number)
        assert answer["success"], answer
        return answer["body"]


def test_debugpy(start):
    process = start("-c", CONNECT, PROGRAM)
    client = Client(int(process.stdout.readline().split()[1]))
    client.ask("initialize", adapterID="test", pathFormat="path")
    client.send("attach", justMyCode=True)
    client.event("initialized")
    client.send("configurationDone")
    file, line = place_of_relu(process)
    [bound] = client.ask("setBreakpoints", source={"path": file}, breakpoints=[{"line": line}])["breakpoints"]
    assert (bound["verified"], bound["line"]) == (True, line)
    process.stdin.write("\n")
    process.stdin.flush()
    thread = client.event("stopped")["body"]["threadId"]
    top = client.ask("stackTrace", threadId=thread)["stackFrames"][0]
    assert (top["name"], top["line"], top["source"]["path"]) == ("forward", line, file)
    value = client.ask("evaluate", expression="tanh.tolist()", frameId=top["id"])["result"]
    assert value.startswith("[0.76")
    client.send("continue", threadId=thread)
    client.event("terminated")
    assert "result [1.76" in process.stdout.readline()
