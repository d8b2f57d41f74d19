"""Clients that do not wait: they go on before `initialized`, pause at once, change breakpoints to the very end."""

import threading

import pytest
from debugging import Debugging


def begun(dap, script="core_crossing.py"):
    program = Debugging(dap.stdio(), script)
    program.initialize()
    return program


def test_all_of_the_start_in_one_breath(dap):
    program = begun(dap)
    launched = program.client.post("launch", program=program.script)
    program.client.post("configurationDone")
    assert program.client.response(launched)["success"]
    assert program.run_out() == 7
    program.leave()


def test_a_pause_before_anything_runs(dap):
    program = begun(dap)
    assert program.client.response(program.client.post("launch", program=program.script))
    refused = program.client.response(program.client.post("pause", threadId=1))
    assert refused["success"] or "bug" not in refused["message"]
    program.client.event("initialized")
    program.client.request("configurationDone")
    assert program.run_out() == 7
    program.leave()


@pytest.mark.rotated
@pytest.mark.parametrize("mark", ["tick", "scaled"])
def test_breakpoints_that_come_until_after_the_end(dap, mark):
    """Where the program has gone, nobody can say what it had."""
    program = begun(dap)
    program.launch()
    line, over = program.native_line(mark), threading.Event()

    def change():
        number = 0
        while not over.wait(0.02):
            number += 1
            wanted = [{"line": line, "logMessage": f"{number}"}]
            program.client.post("setBreakpoints", source={"path": program.extension}, breakpoints=wanted)

    changing = threading.Thread(target=change)
    changing.start()
    assert program.run_out() == 7
    over.set()
    changing.join()
    assert "No loaded native code" not in "".join(body["output"] for body in program.client.events("output"))
    program.leave()
