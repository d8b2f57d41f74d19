"""A pause that debugpy and gdb make at almost the same time, and one on a machine that lets the program hardly run."""

import os
import subprocess
import sys
import threading

import pytest

import pyharness
from pyharness.host.process_state import computed

SCRIPT = """def spin():
    count = 0
    while count >= 0:
        count += 1
spin()
"""


@pytest.fixture
def spinning(tmp_path):
    """A program that computes in Python, and its session."""
    path = tmp_path / "spins.py"
    path.write_text(SCRIPT)
    with pyharness.debug(str(path)) as program:
        stop = program.run_to(f"py:{path}:4")
        assert stop.frame.function == "spin"
        yield program


def test_a_stop_of_debugpys_that_was_forgotten_is_none(spinning):
    """debugpy has stopped a thread, and is told to let it go, for gdb to stop it: that thread runs."""
    shell = spinning._shell
    shell.attach()
    shell.begin("continue")
    shell.pause(spinning.pid)
    others = []
    while (event := shell._events.get(timeout=60))[0] != "debugpy" or event[1]["event"] != "stopped":
        others.append(event)
    pause = ("pause", spinning.pid)
    for each in [pause, *(other for other in others if other != pause), event]:
        shell.handle(*each)
    told = [shell.machine.focus]
    shell.pump(lambda: shell.machine.focus is not None)
    told.append(shell.machine.focus)
    assert [stop and stop.language for stop in told] == [None, "native"]


def test_the_time_that_a_thread_has_computed():
    code = "import sys; print(1, flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as busy:
        busy.stdout.readline()
        first = second = computed(busy.pid, busy.pid)
        while first is None or second is None or second <= first:
            first, second = second if first is None else first, computed(busy.pid, busy.pid)
        busy.kill()
    assert computed(busy.pid, busy.pid) is None


def test_a_thread_that_waits_computes_nothing():
    lwp, goes_on = [], threading.Event()

    def waits():
        lwp.append(threading.get_native_id())
        goes_on.wait()

    thread = threading.Thread(target=waits)
    thread.start()
    while not lwp or computed(os.getpid(), lwp[0]) is not None:
        pass
    goes_on.set()
    thread.join()
