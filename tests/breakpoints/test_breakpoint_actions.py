"""What a breakpoint does where it matches, in a program of its own: pdb, debugpy, a line, nothing of gdb's."""

import queue
import subprocess
import sys
from functools import partial

import pytest

from kit.debugpy_adapter import DebugpyAdapter
from kit.marks import line_of
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=2)

PROGRAM = PROGRAMS / "op_actions.py"
marked = partial(line_of, file=PROGRAM)


@pytest.fixture
def run(environment):
    def start(*actions, typed=""):
        command = [sys.executable, str(PROGRAM), *actions]
        return subprocess.run(
            command, input=typed, capture_output=True, text=True, timeout=90, check=False, env=environment
        )

    return start


def test_pdb_stands_at_the_line_that_called_before_the_op(run):
    """What is typed at its prompt hits nothing, neither before the op nor at a later line."""
    typed = ("p y.tolist()", "p 'z' in dir()", "p (y * 5).tolist()", "next", "p (z * 5).tolist()", "continue")
    done = run("pdb", typed="\n".join([*typed, ""]))
    position = 0
    for part in [
        f"> {PROGRAM}({marked('mul')})work()",
        "-> z = y * 2",
        "[2.0, 2.0]",
        "False",
        "[10.0, 10.0]",
        f"> {PROGRAM}({marked('after')})work()",
        "[20.0, 20.0]",
        "[7.0, 7.0]",
        "1 hit\n",
    ]:
        found = done.stdout.find(part, position)
        assert found >= 0, f"{part!r} is not there (after what came before it) in\n{done.stdout}\n{done.stderr}"
        position = found + len(part)
    assert done.stderr.count("pyharness: aten::mul") == 1
    assert done.returncode == 0, done.stderr


def test_without_a_terminal_or_a_debugger_it_is_a_line_or_nothing(run):
    done = run("", "stop", "debugpy")
    line = f"pyharness: aten::mul.Tensor(float32[2], int64[]) at {PROGRAM}:{marked('mul')} in work, hit 1"
    assert done.stderr == f"{line}\n{line} (debugpy is not loaded)\n"
    assert (done.returncode, done.stdout) == (0, "[7.0, 7.0]\n1 hit\n" * 3)


class Debugpy:
    """A stock debugpy with a client that is not ours, as an editor has it."""

    def __init__(self):
        self._events = queue.Queue()
        self._client = DebugpyAdapter(self._events.put)
        self.request = self._client.request

    def launch(self, *arguments):
        self.request("initialize", {"adapterID": "debugpy", "pathFormat": "path"})
        wanted = {"program": str(PROGRAM), "args": arguments, "console": "internalConsole", "subProcess": False}
        launched = self._client.post("launch", wanted)
        self.event("initialized")
        self.request("configurationDone")
        self._client.wait(launched, "launch")

    def event(self, *names):
        """The next of these; what comes between them is not looked at."""
        while True:
            event = self._events.get(timeout=60)
            assert event is not None, "\n".join(self._client.transcript)
            if event["event"] in names:
                return event

    def close(self):
        self._client.close()


@pytest.fixture
def debugpy(environment, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", environment["PYTHONPATH"])
    client = Debugpy()
    yield client
    client.close()


def test_debugpy_stops_at_the_next_line_of_the_frame_that_called(debugpy):
    debugpy.launch("debugpy")
    stopped = debugpy.event("stopped", "exited")
    assert stopped["event"] == "stopped"
    thread = {"threadId": stopped["body"]["threadId"]}
    frame = debugpy.request("stackTrace", thread)["stackFrames"][0]
    assert (frame["name"], frame["line"]) == ("work", marked("after"))
    asked = {"expression": "(z * 5).tolist()", "frameId": frame["id"], "context": "hover"}
    assert debugpy.request("evaluate", asked)["result"] == "[20.0, 20.0]"
    assert debugpy.request("stackTrace", thread)["stackFrames"][0]["line"] == marked("after")
    debugpy.request("continue", thread)
    exited = debugpy.event("stopped", "exited")
    assert (exited["event"], exited["body"]["exitCode"]) == ("exited", 0)
