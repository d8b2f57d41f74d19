"""A thread outlives a gdb that is killed while a function runs on it: real gdb, kill -9, every register looked at."""

from __future__ import annotations

import fcntl
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kit.paths import ROOT

PROGRAM = ROOT / "tests" / "programs" / "guarded_registers.py"
MORTAL = ROOT / "tests" / "programs" / "dying_gdb.c"
BUILT = ROOT / "build" / "tests"
ROUNDS = int(os.environ.get("PYHARNESS_RUNS", "10"))
"""How many of gdb's changes to the program it dies at, of 400 to 600: 1000 are all."""
ATTACH = f"""
set confirm off
set pagination off
set auto-solib-add off
python import sys; sys.path.insert(0, {str(ROOT)!r})
python from pyharness.ingdb.opening import attach
python from pyharness.ingdb.calls import expressions, guarded_call
python from pyharness.ingdb.process import extended_state; extended_state.register()
python attach.attach(PID, non_stop=False, symbols=False)
sharedlibrary guarded_registers
"""
AT_REGISTERS = "break *keep_here\ncontinue\ndelete\n"
WAYS = {
    "called": "guarded_call.call(int(gdb.parse_and_eval('(long)&disturb')))",
    "expression": "int(expressions.evaluate('((int (*)(void))disturb)()'))",
}


def compiled(source, compiler):
    library = BUILT / f"{source.stem}.so"
    BUILT.mkdir(parents=True, exist_ok=True)
    with library.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:  # another process may run it
            made = library.with_suffix(".made")
            subprocess.run([compiler, "-O1", "-shared", "-fPIC", str(source), "-o", str(made)], check=True)
            made.replace(library)
    return str(library)


@pytest.fixture(scope="module")
def library():
    """The thread's code, compiled."""
    return compiled(PROGRAM.with_suffix(".cpp"), "c++")


@pytest.fixture(scope="module")
def mortal():
    """What counts gdb's changes, compiled."""
    return compiled(MORTAL, "cc")


@pytest.fixture
def program(library):
    """Start the program; it is asked through its stdin."""
    started = []

    def start(*words):
        started.append(Registers(library, *words))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.communicate()


class Registers:
    """The debuggee."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout.readline() == "ready\n"

    def ask(self, word=""):
        """The rounds so far, and how many of them went wrong."""
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"the program died: {self.process.wait()}"
        return tuple(map(int, answer.split()))

    def goes_on_well(self, after="gdb"):
        """A SIGSTOP of gdb's that it did not live to see stops the program: a session continues it then, as here."""
        os.kill(self.process.pid, signal.SIGCONT)
        before = now = self.ask()
        while now[0] < before[0] + 3:
            now = self.ask()
        assert now[1] == 0, after


def gdb_words(program, commands):
    script = (ATTACH + commands).replace("PID", str(program.process.pid))
    return ["gdb", "-q", "-nx", *(part for line in script.splitlines() if line for part in ("-ex", line))]


def gdb_at(program, commands, until):
    """A gdb that has printed ``until``."""
    gdb = subprocess.Popen(
        gdb_words(program, commands),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seen = []
    for line in gdb.stdout:
        seen.append(line)
        if until in line:
            return gdb
    raise AssertionError("gdb ended:\n" + "".join(seen))


def kill(gdb):
    gdb.kill()
    gdb.communicate()


def wait_for_call(program):
    """Until the function that gdb called waits for its byte: nothing says so but the kernel."""
    while not any("pipe" in task.read_text() for task in Path(f"/proc/{program.process.pid}/task").glob("*/wchan")):
        pass


at_any_place = pytest.mark.parametrize(("kind", "place"), [("keeps", AT_REGISTERS), ("waits", "thread 1\n")])
in_any_way = pytest.mark.parametrize("way", WAYS)


@at_any_place
@in_any_way
def test_a_call_changes_nothing(program, kind, place, way):
    loop = program(kind)
    kill(gdb_at(loop, f"{place}python print('got', {WAYS[way]})\ndetach\necho left\\n", "got 3"))
    loop.goes_on_well()


@at_any_place
@in_any_way
def test_killed_in_the_call(program, kind, place, way):
    loop = program(kind, "slow")
    gdb = gdb_at(loop, f"{place}echo calls\\n\npython {WAYS[way]}\n", "calls")
    wait_for_call(loop)
    kill(gdb)
    loop.ask("go")
    loop.goes_on_well()


def changes_of_a_gdb(mortal, program, place, way, number=0):
    """How many changes gdb made to the program; ``None`` where it was killed before the one of that number."""
    count = "print('changes', ctypes.c_long.in_dll(mortal, 'changes').value, flush=True)"
    commands = f"{place}python import ctypes; mortal = ctypes.CDLL({mortal!r}); {WAYS[way]}\n"
    commands += f"python mortal.die_at({number}); {WAYS[way]}; {count}\n"
    words = [*gdb_words(program, commands), "-batch"]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": mortal}, check=False)
    if done.returncode == -signal.SIGKILL:
        return None
    return int(done.stdout.rpartition("changes ")[2].split()[0])


@pytest.mark.rotated_tests(turns=6, number=1)
@at_any_place
@in_any_way
def test_killed_between_any_two_changes(program, mortal, kind, place, way):
    """The program cannot tell one moment between two changes from another: these are all of them."""
    loop = program(kind)
    count = changes_of_a_gdb(mortal, loop, place, way)
    loop.goes_on_well()
    step = max(1, count // ROUNDS)
    for number in range(random.randrange(step) + 1, count + 1, step):  # noqa: S311  (not for secrets)
        changes_of_a_gdb(mortal, loop, place, way, number)
        loop.goes_on_well(number)


def test_killed_after_a_crash_in_an_expression(program):
    loop = program("keeps")
    crash = "expressions.evaluate('((int (*)(void))crash)()')"
    gdb = gdb_at(loop, f"{AT_REGISTERS}set unwindonsignal off\npython {crash}\necho crashed\\n", "SIGSEGV")
    kill(gdb)
    loop.goes_on_well()


def test_without_the_guard_it_dies(program):
    loop = program("keeps", "slow", "--unguarded")
    gdb = gdb_at(loop, f"{AT_REGISTERS}echo calls\\n\npython {WAYS['called']}\n", "calls")
    wait_for_call(loop)
    kill(gdb)
    loop.process.stdin.write("go\n")
    loop.process.stdin.flush()
    assert loop.process.wait() == -signal.SIGSEGV


def test_a_crash_of_the_program_is_its_own_afterwards(program):
    """The handler of the time of an expression is gone with it."""
    loop = program("keeps")
    kill(gdb_at(loop, f"{AT_REGISTERS}python print('got', {WAYS['expression']})\ndetach\necho left\\n", "left"))
    caught = Path(f"/proc/{loop.process.pid}/status").read_text().partition("SigCgt:")[2].split()[0]
    assert not int(caught, 16) >> signal.SIGSEGV - 1 & 1
    loop.goes_on_well()
