"""A program in the client's terminal: the client starts it, and the session is as any other."""

import os
import subprocess

import pytest
from debugging import EXTENSION, Debugging

pytestmark = pytest.mark.rotated_tests(turns=2)


class Terminal:
    """Starts what the adapter asks for, as a client does."""

    def __init__(self):
        self.asked = []
        self.processes = []

    def __call__(self, request):
        self.asked.append(request)
        given = {**os.environ, **request["env"]}
        env = {name: value for name, value in given.items() if value is not None}
        process = subprocess.Popen(
            request["args"], cwd=request["cwd"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.processes.append(process)
        return {"processId": process.pid}

    def close(self):
        for process in self.processes:
            process.kill()
            process.communicate()


@pytest.fixture
def terminal():
    made = Terminal()
    yield made
    made.close()


def launched(dap, terminal, *, supported=True, **arguments):
    client = dap.stdio()
    client.reverse["runInTerminal"] = terminal
    program = Debugging(client, "core_crossing.py")
    program.initialize(supportsRunInTerminalRequest=supported)
    return program, client.post("launch", program=program.script, **arguments)


def test_it_is_debugged_has_its_own_input_and_output_and_is_started_again(dap, terminal, tmp_path):
    console = {"console": "integratedTerminal", "cwd": str(tmp_path), "env": {"SOME": "thing"}, "args": ["a b"]}
    program, answer = launched(dap, terminal, **console)
    program.client.event("initialized")
    program.configure(("held",), ("tick",))
    assert program.client.response(answer)["success"]
    (asked,) = terminal.asked
    assert (asked["kind"], asked["cwd"], asked["env"]["SOME"]) == ("integrated", str(tmp_path), "thing")
    stood = program.stood()
    seen = "(__import__('os').environ['SOME'], __import__('sys').argv[1:], __import__('os').getcwd())"
    assert program.evaluate(seen, stood.frame) == f"('thing', ['a b'], {str(tmp_path)!r})"
    program.client.request("restart")
    stood = program.stood()
    assert (stood.function, program.at(stood), len(terminal.asked)) == ("main", "held", 2)
    stood = program.run_on(stood)
    assert (stood.function, program.evaluate("n", stood.frame)) == ("crossing::tick", "0")
    program.set_lines(EXTENSION, [])
    program.client.request("continue", threadId=stood.thread)
    process = terminal.processes[1]
    assert process.stdout.readline() == "3 7 6 16 [1, 3, 5] on purpose 11\n"
    process.stdin.write("\n")
    process.stdin.flush()
    assert program.run_out() == 7
    assert process.wait() == 7
    assert program.output() == ""
    program.leave()


def test_disconnect_ends_it_and_terminate_asks_it_to(dap, terminal):
    program, _ = launched(dap, terminal, console="externalTerminal")
    program.client.event("initialized")
    program.configure(("held",))
    assert program.at(program.stood()) == "held"
    assert terminal.asked[0]["kind"] == "external"
    program.leave()
    assert terminal.processes[0].wait() < 0


def test_a_client_that_has_no_terminal_or_cannot_start_it(dap, terminal):
    program, answer = launched(dap, terminal, supported=False, console="integratedTerminal")
    refused = program.client.response(answer)
    assert "This client has no integratedTerminal" in refused["message"]
    assert not terminal.asked
    program.leave()
    program, answer = launched(dap, lambda _request: "no pseudo-terminal left", console="integratedTerminal")
    program.client.event("terminated")
    assert "no pseudo-terminal left" in program.output("important")
    program.leave()


def test_null_takes_a_variable_away_in_a_terminal_and_in_the_console(dap, terminal, monkeypatch):
    monkeypatch.setenv("TAKEN", "away")
    for console in ("integratedTerminal", "internalConsole"):
        program, answer = launched(dap, terminal, console=console, env={"TAKEN": None, "GIVEN": "one"})
        program.client.event("initialized")
        program.configure(("held",))
        assert program.client.response(answer)["success"]
        seen = "[__import__('os').environ.get(name) for name in ('TAKEN', 'GIVEN')]"
        assert program.evaluate(seen, program.stood().frame) == "[None, 'one']"
    assert terminal.asked[0]["env"]["TAKEN"] is None
