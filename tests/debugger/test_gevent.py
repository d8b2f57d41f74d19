"""Programs whose locks, sockets, sleeps and threads gevent has replaced: they run as they do alone."""

import subprocess
import sys
from pathlib import Path

import pytest

import pyharness
from kit.command import PYHARNESS

pytestmark = pytest.mark.rotated_tests(turns=6)


PROGRAM = """\
from gevent import monkey; monkey.patch_all()
import gevent, sys, threading, time
def work(n):
    time.sleep(0.001)
    return n * 2
def late(n):
    gevent.get_hub().threadpool.apply(work, (n,))
    return n
jobs = [gevent.spawn(work, n) for n in range(3)]
gevent.joinall(jobs)
thread = threading.Thread(target=work, args=(9,))
thread.start(); thread.join()
total = sum(job.value for job in jobs)
late(7)
print(total, threading.main_thread() is threading.current_thread(), [each.name for each in threading.enumerate()])
sys.exit(total)
"""
SAID = "6 True ['MainThread']\n"


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def started(script, tmp_path):
    return pyharness.debug(str(script), stdout=(tmp_path / "output").open("w"))


def test_it_runs_as_alone(script, tmp_path):
    alone = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (alone.returncode, alone.stdout, alone.stderr) == (6, SAID, "")
    with started(script, tmp_path) as program:
        assert program.finish() == 6
    assert (tmp_path / "output").read_text() == SAID


def test_places_in_greenlets_threads_and_the_pool(script):
    with pyharness.debug(str(script)) as program:
        program.set_breakpoint(f"py:{script}:5")
        seen = []
        while program.resume() is not None:
            seen.append(program.evaluate("n"))
        assert sorted(seen) == ["0", "1", "2", "7", "9"]
        assert program.exit_code == 6


def test_steps(script):
    with pyharness.debug(str(script)) as program:
        assert program.run_to(f"py:{script}:10").frame.line == 10
        assert program.over().frame.line == 11
        assert program.run_to(f"py:{script}:13").frame.line == 13
        assert program.over().frame.line == 14
        assert program.evaluate("total") == "6"
        assert program.into().frame.function == "late"
        assert program.out().frame.line == 14
        assert program.finish() == 6


def test_log_points(script):
    said = []
    with pyharness.debug(str(script)) as program:
        program.log(f"py:{script}:5", "n is {n}", said.append)
        assert program.resume() is None
    assert sorted(said) == [f"n is {n}" for n in (0, 1, 2, 7, 9)]


@pytest.mark.rotated
@pytest.mark.parametrize("support", ["True", "False"])
def test_the_variable_of_debugpy_may_be_set(script, tmp_path, support, monkeypatch):
    monkeypatch.setenv("GEVENT_SUPPORT", support)
    with started(script, tmp_path) as program:
        assert program.run_to(f"py:{script}:5").frame.function == "work"
        assert program.over() is not None
        assert program.finish() == 6
    assert (tmp_path / "output").read_text() == SAID


@pytest.mark.parametrize("front", [(), (*PYHARNESS, "run", "--python")], ids=["plain", "run"])
def test_the_variable_is_set_and_there_is_no_gevent(tmp_path, front, monkeypatch):
    """The interpreter that the environment was made from has none."""
    monkeypatch.setenv("GEVENT_SUPPORT", "True")
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))
    script = tmp_path / "reads.py"
    script.write_text("print('ready', flush=True)\nwhile input():\n    pass\n")
    words, pipe = [*front, str(Path(sys.executable).resolve()), str(script)], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as runs:
        assert runs.stdout.readline() == "ready\n"
        with pyharness.attach(runs.pid) as program:
            program.set_breakpoint(f"py:{script}:3")
            runs.stdin.write("go\n")
            runs.stdin.flush()
            assert program.resume().frame.line == 3
        _, errors = runs.communicate("\n")
    assert [line for line in errors.splitlines() if not line.startswith("pyharness: handle")] == []


def test_one_that_runs_is_attached_to_again_and_again(running):
    walker = running("gevent_loop.py")
    for _ in range(3):
        with pyharness.attach(walker.pid) as program:
            assert program.run_to(walker.at("kept")).frame.function == "work"
            assert program.evaluate("number") in {"1", "2", "9"}
            program.run_to(walker.at("calls"))
            assert program.into_native().frame.function == "crossing::call"
            program.run_to(walker.at("back"))
            assert program.out().frame.function == "crossing::call"
            assert program.out().frame.function == "work"
    code, output, errors = walker.end()
    assert (code, output.splitlines()[-1], errors) == (0, "end True None", "")


def test_one_with_a_handle(running):
    walker = running("gevent_loop.py", handle="walker")
    for _ in range(2):
        with pyharness.attach("walker") as program:
            assert program.run_to("native:crossing::call").frame.function == "crossing::call"
            assert program.over().frame.line
            assert program.run_to(walker.at("kept")).frame.function == "work"
    code, output, _ = walker.end()
    assert (code, output.splitlines()[-1]) == (0, "end True None")
