"""A controller that is killed, wherever it is: the program runs on, at full speed, and the next debugger is let in."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

import pyharness

CONTROLLER = Path(__file__).with_name("attach_controller.py")


@pytest.fixture
def controller():
    """Start ``attach_controller.py`` and wait until it is where it shall be."""
    started = []

    def start(*words):
        command = [sys.executable, str(CONTROLLER), *map(str, words)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "standing\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.rotated
@pytest.mark.parametrize(
    "state", ["hello", "initialized", "ready", "running", "python", "native", "halting", "stepping"]
)
def test_the_program_outlives_its_debugger(running, controller, state):
    walker = running("attach_loop.py", "native", handle="walker")
    place = {"native": "native:tick", "halting": "native:tick", "stepping": walker.at("released")}.get(
        state, walker.at("repeat")
    )
    process = controller("walker", state, place)
    process.kill()
    process.wait()
    with pyharness.attach("walker") as program:
        program.run_to(walker.at("released"))
    walker.ends_free()


def test_a_gdb_that_hears_nothing_ends_soon(running, controller):
    walker = running("attach_loop.py", "native", handle="walker")
    process = controller("walker", "deaf", "native:tick")
    (gdb,) = children(process.pid)
    ended = os.pidfd_open(gdb)
    process.kill()
    process.wait()
    assert select.select([ended], [], [], 20)[0]
    os.close(ended)
    with pyharness.attach("walker") as program:  # which waits until the program has let go of the one before
        program.run_to(walker.at("released"))
    walker.ends_free()


def children(pid):
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(number) for listed in found for number in listed.read_text().split()]


def test_it_runs_on_by_itself(running, controller):
    walker = running("attach_loop.py", "native", handle="walker")
    process = controller("walker", "native", "native:tick")
    process.kill()
    process.wait()
    code, output, errors = walker.end()
    assert (code, errors.count("\n")) == (7, 1), output + errors


LONG = "__import__('os').write(1, b'asked\\n') and __import__('threading').Event().wait()"
BUSY = "__import__('os').write(1, b'asked\\n') and [0 for _ in iter(int, 1)]"


@pytest.mark.rotated
@pytest.mark.parametrize("expression", [LONG, BUSY], ids=["waits", "computes"])
@pytest.mark.parametrize("where", ["@released", "native:tick"], ids=["python", "native"])
def test_an_expression_holds_the_program_no_longer_than_its_debugger_lives(running, controller, where, expression):
    walker = running("attach_loop.py", "native", handle="walker")
    place = walker.at(where[1:]) if where.startswith("@") else where
    text = expression if where.startswith("@") else f"py:{expression}"
    process = controller("walker", "evaluating", place, text)
    walker.until("asked")
    process.kill()
    process.wait()
    with pyharness.attach("walker") as program:
        program.run_to(walker.at("released"))
    walker.ends_free()
