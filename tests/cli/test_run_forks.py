"""A program under ``pyharness run`` that forks: its child never waits for us, and Python 3.12 warns it of no thread."""

from contextlib import ExitStack

import pytest

import pyharness
from kit.interpreters import cases, interpreters
from kit.running_program import Running

FORKS = """
import os, sys, threading, time, warnings

def forks():
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)

def said(times):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(times):
            forks()
    return {str(each.message).partition(",")[0] for each in told}

print(said(50))
both = [threading.Thread(target=time.sleep, args=(0.2,)) for _ in range(2)]
for thread in both:
    thread.start()
print(said(1))
for thread in both:
    thread.join()
warnings.simplefilter("ignore")  # debugpy's threads are there while somebody debugs
print("begin", flush=True)
number = 0
while not os.path.exists(sys.argv[1]):
    number += 1
    time.sleep(0.01)
    forks()
"""


@pytest.fixture
def program():
    """Start the script under a handle, with a Python."""
    with ExitStack() as started:

        def start(script, *arguments, python):
            running = Running(script, *arguments, handle="forks", python=python)
            started.callback(running.kill)
            return running

        yield start


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases())
def test_it_is_warned_of_no_thread_of_ours_and_a_debugger_may_come(program, version, tmp_path):
    script, over = tmp_path / "forks.py", tmp_path / "over"
    script.write_text(FORKS)
    forks = program(script, str(over), python=interpreters()[version])
    number = tuple(map(int, version.partition("-")[0].split(".")))
    warned = {f"This process (pid={forks.pid}) is multi-threaded"}
    without, of_its_own = (warned if number >= warns else set() for warns in ((3, 13), (3, 12)))
    assert forks.said == f"{without}\n{of_its_own}\nbegin\n"
    for _ in range(3):
        with pyharness.attach("forks") as visit:
            visit.run_to(f"py:{script}:{FORKS.splitlines().index('    number += 1') + 1}")
            assert int(visit.evaluate("number")) >= 0
    over.touch()
    code, _, errors = forks.end()
    assert (code, [line for line in errors.splitlines() if not line.startswith("pyharness: handle ")]) == (0, [])
