"""A step that cannot begin: the client, which was answered that it has, hears of the stop once more."""

import os
import threading
import time

import pytest
from debugging import Debugging

from kit.debugged_program import source_line


@pytest.fixture
def pipes(tmp_path):
    """By which the threads of the program are told to go on."""
    opened = {}
    for name in ("begin", "mark", "keep"):
        os.mkfifo(tmp_path / name)
        opened[name] = os.open(tmp_path / name, os.O_RDWR)
    yield opened
    for pipe in opened.values():
        os.close(pipe)


@pytest.mark.rotated
@pytest.mark.parametrize("first", ["the stop", "the step"])
def test_another_stopped_thread_holds_the_gil(dap, pipes, tmp_path, first):
    program = Debugging(dap.stdio(), "fault_meanwhile.py")
    program.launch(functions=["crossing::scaled"], args=[str(tmp_path / name) for name in pipes])
    stood = program.stood()
    program.set_lines(program.extension, [source_line("waited_holding")])
    os.write(pipes["begin"], b"!")
    stops = threading.Timer(0 if first == "the stop" else 0.5, os.write, (pipes["keep"], b"!"))
    stops.start()
    if first == "the stop":
        time.sleep(1)
    again = program.over(stood)
    stops.join()
    assert (again.thread, again.function, again.line) == (stood.thread, stood.function, stood.line)
    assert "another stopped thread holds the GIL" in program.output("important")
    other = program.run_on(again)
    assert other.function == "crossing::wait_holding"
    os.write(pipes["mark"], b"!")
    assert program.run_out(other) == 7
    program.leave()
