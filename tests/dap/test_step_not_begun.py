"""A step that cannot begin: the client, which was answered that it has, hears of the stop once more."""

import os

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


def test_another_stopped_thread_holds_the_gil(dap, pipes, tmp_path):
    program = Debugging(dap.stdio(), "fault_meanwhile.py")
    program.launch(functions=["crossing::scaled"], args=[str(tmp_path / name) for name in pipes])
    stood = program.stood()
    program.set_lines(program.extension, [source_line("waited_holding")])
    os.write(pipes["begin"], b"!")
    os.write(pipes["keep"], b"!")
    again = program.over(stood)
    assert (again.thread, again.function, again.line) == (stood.thread, stood.function, stood.line)
    assert "another stopped thread holds the GIL" in program.output("important")
    other = program.run_on(again)
    assert other.function == "crossing::wait_holding"
    os.write(pipes["mark"], b"!")
    assert program.run_out(other) == 7
    program.leave()
