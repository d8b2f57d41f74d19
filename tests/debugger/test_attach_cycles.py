"""Debuggers that are killed, one after another, on one program: each next session is as on a fresh program.

``PYHARNESS_RUNS`` says how many are killed; the bar is 100.
"""

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pyharness
from pyharness.host import handles
from pyharness.host.loader import words_of

pytestmark = pytest.mark.rotated_tests(turns=8, number=0)


RUNS = int(os.environ.get("PYHARNESS_RUNS", "11"))
CONTROLLER = Path(__file__).with_name("attach_controller.py")
PHASES = {
    "hello": "@repeat",
    "initialized": "@repeat",
    "ready": "@repeat",
    "running": "@repeat",
    "python": "@released",
    "native": "native:tick",
    "stepping": "@repeat",
    "armed": "@repeat",
}
"""What ``attach_controller.py`` is doing when it dies → where it has gone to for that."""
GDB_PHASES = {"native", "stepping", "armed"}
FRESH = [
    ("breakpoint", "native", "crossing::scaled"),
    ("step", "native", "crossing::released"),
    ("step", "python", "native"),
    ("step", "python", "ended"),
]


def begun(phase, place):
    """A debugger in that phase."""
    command = [sys.executable, str(CONTROLLER), "walker", phase, place]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "standing\n"
    return process


def strike(process, victim):
    """Kill it, or its gdb: then it leaves by itself."""
    if victim == "gdb":
        children = Path(f"/proc/{process.pid}/task").glob("*/children")
        pids = [int(pid) for each in children for pid in each.read_text().split()]
        (gdb,) = [pid for pid in pids if words_of(pid)[:1] and Path(words_of(pid)[0]).name == "gdb"]
        os.kill(gdb, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()


def session():
    """The stops of one that crosses both ways."""
    with pyharness.attach("walker") as program:
        moves = (lambda: program.run_to("native:scaled"), program.out, program.out, program.into)
        stops = [move() for move in moves]
    return [(stop.reason, stop.frame.language, stop.frame.function) for stop in stops]


def _is_found(walker):
    return walker.pid in {handle.pid for handle in handles.live()}


def _left():
    """What there is of handles."""
    return sorted(str(path) for path in (Path(os.environ["PYHARNESS_HOME"]) / "run").iterdir())


@pytest.mark.slow
@pytest.mark.timeout(60 * RUNS)
def test_each_next_session_is_as_on_a_fresh_program(running):
    walker = running("attach_loop.py", "native", handle="walker")
    deaths = [
        (phase, victim) for victim in ("client", "gdb") for phase in PHASES if victim != "gdb" or phase in GDB_PHASES
    ]
    for number, (phase, victim) in enumerate(itertools.islice(itertools.cycle(deaths), RUNS)):
        place = PHASES[phase]
        strike(begun(phase, walker.at(place[1:]) if place.startswith("@") else place), victim)
        assert _is_found(walker.lives()), f"after {victim} {number}, killed in {phase!r}: {_left()}\n{walker.stands()}"
        assert session() == FRESH, f"after {victim} {number}, killed in {phase!r}"
    walker.ends_free()


def test_a_program_hears_nothing_of_it(running):
    """pydevd would tell the program not to use sys.settrace, which it never did."""
    walker = running("attach_loop.py", "native", handle="walker")
    for phase in ("python", "armed"):
        strike(begun(phase, walker.at(PHASES[phase][1:])), "client")
        session()
    code, _, errors = walker.end()
    assert (code, errors.count("\n")) == (7, 1), errors
