"""A program outlives a gdb that is killed: real gdb, real breakpoints, kill -9."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from kit.paths import PROGRAMS, ROOT

pytestmark = pytest.mark.rotated_tests(turns=5)


PROGRAM = PROGRAMS / "hot_loop.py"
ROUNDS = 5
HANDLER = ("trap_guard", "mapping", "guarded_call")
"""The files of csrc/guard whose code runs in the handler; its neighbours run at other times."""
MEMORY_FUNCTIONS = {"memcpy", "memset", "memmove", "strlen", "strchr", "open", "read", "pread", "pwrite", "mprotect"}


@dataclass(frozen=True)
class Progress:
    calls: tuple[int, int]
    wrong: int
    healed: int


class Loop:
    """The debuggee, asked through its stdin."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout.readline() == "ready\n"

    def progress(self) -> Progress:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"the program died: {self.process.wait()}"
        first, second, wrong, healed = map(int, answer.split())
        return Progress((first, second), wrong, healed)

    def both_threads_go_on(self) -> Progress:
        before = now = self.progress()
        while not all(b < n for b, n in zip(before.calls, now.calls, strict=True)):
            now = self.progress()
        return now


@pytest.fixture
def loop(request: pytest.FixtureRequest):
    program = Loop(*getattr(request, "param", ()))
    yield program
    program.process.kill()
    program.process.communicate()


def attach(pid: int, *commands: str, until: str) -> subprocess.Popen[str]:
    """A gdb on ``pid`` that has run the commands and printed ``until``."""
    arguments = [
        "set confirm off",
        "set auto-solib-add off",
        "set breakpoint always-inserted on",
        f"attach {pid}",
        "sharedlibrary libc.so",
        *commands,
    ]
    command = ["gdb", "-q", "-nx", *(part for text in arguments for part in ("-ex", text))]
    gdb = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seen = []
    for line in gdb.stdout:
        seen.append(line)
        if until in line:
            return gdb
    raise AssertionError("gdb ended:\n" + "".join(seen))


def kill(gdb: subprocess.Popen[str]) -> None:
    gdb.kill()
    gdb.communicate()


def test_killed_while_stopped_at_the_breakpoint(loop):
    for _ in range(ROUNDS):
        kill(attach(loop.process.pid, "break getppid", "continue", until="hit Breakpoint"))
        progress = loop.both_threads_go_on()
        assert progress.wrong == 0
    assert progress.healed > 0


PLANTED = """
python
import gdb
from pyharness.ingdb.stops.planted import Planted
Planted(gdb.selected_inferior().pid).plant([int(gdb.parse_and_eval("(long)&getpgrp"))])
end
"""


def test_killed_while_the_thread_stands_behind_a_planted_trap(loop, tmp_path, monkeypatch):
    """gdb has taken the signal by then: the kernel lets the thread go on where it stands."""
    script = tmp_path / "planted.gdb"
    script.write_text(PLANTED)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for _ in range(ROUNDS):
        kill(attach(loop.process.pid, f"source {script}", "continue &", "echo goes on\\n", until="goes on"))
        assert loop.both_threads_go_on().wrong == 0
    for _ in range(ROUNDS):
        gdb = attach(loop.process.pid, f"source {script}", "continue &", "echo goes on\\n", until="goes on")
        loop.process.stdin.write("\n")
        loop.process.stdin.flush()
        assert any("SIGTRAP" in line for line in gdb.stdout)
        kill(gdb)
        assert loop.both_threads_go_on().wrong == 0


def test_killed_while_the_program_runs(loop):
    for _ in range(ROUNDS):
        kill(attach(loop.process.pid, "break getpgrp", "continue &", "echo goes on\\n", until="goes on"))
        progress = loop.both_threads_go_on()
        assert progress.wrong == 0
    assert progress.healed > 0


def test_killed_in_a_single_step(loop):
    kill(attach(loop.process.pid, "break getppid", "continue", "stepi", "echo stepped\\n", until="stepped"))
    assert loop.both_threads_go_on().wrong == 0


def test_killed_with_a_hardware_breakpoint(loop):
    kill(attach(loop.process.pid, "hbreak getppid", "continue", until="hit "))
    assert loop.both_threads_go_on().wrong == 0


@pytest.mark.parametrize("loop", [("--unguarded",)], indirect=True)
def test_without_the_guard_it_dies(loop):
    kill(attach(loop.process.pid, "break getppid", "continue", until="hit Breakpoint"))
    assert loop.process.wait() == -signal.SIGTRAP


def run_guarded(body: str) -> subprocess.CompletedProcess[str]:
    code = "import os, signal\nfrom pyharness.native import install_trap_guard\n" + body
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


FORKS = """
import ctypes
lose = ctypes.CFUNCTYPE(None)(lambda: signal.signal(signal.SIGTRAP, signal.SIG_DFL) and None)
ctypes.CDLL(None)["__register_atfork"](None, None, lose, None)
install_trap_guard()
if os.fork() == 0:
    status = open("/proc/self/status").read().partition("SigCgt:")[2]
    print(int(status.split()[0], 16) >> signal.SIGTRAP - 1 & 1, flush=True)
    os._exit(0)
os.wait()
"""


def test_a_child_whose_handler_was_lost_in_fork_has_it_again():
    """gdb's one step of a child loses it where fork() blocks all signals, as it does since glibc 2.41."""
    done = run_guarded(FORKS)
    assert done.stdout == "1\n", done.stderr


def test_a_sent_trap_still_kills():
    assert run_guarded("install_trap_guard()\nos.kill(os.getpid(), signal.SIGTRAP)").returncode == -signal.SIGTRAP


def test_a_trap_of_the_program_itself_still_kills():
    breakpoint_in_code = (
        "install_trap_guard()\n"
        "import ctypes, mmap\n"
        "page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\n"
        "page.write(bytes([0xCC, 0xC3]))\n"
        "ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()\n"
    )
    assert run_guarded(breakpoint_in_code).returncode == -signal.SIGTRAP


def test_the_previous_handler_still_runs():
    done = run_guarded(
        "signal.signal(signal.SIGTRAP, lambda *_: print('mine'))\n"
        "install_trap_guard(); install_trap_guard()\n"
        "os.kill(os.getpid(), signal.SIGTRAP)"
    )
    assert (done.returncode, done.stdout) == (0, "mine\n")


def test_the_handler_needs_no_memory_function_of_libc():
    """A leftover breakpoint may sit in libc's memcpy or read: running into it from the handler would be the end."""
    from pyharness import _guard

    built = Path(_guard.__file__).resolve().parent
    objects = [file for source in HANDLER for file in built.rglob(f"{source}.cpp.o")]
    assert len(objects) == len(HANDLER)
    needs = subprocess.check_output(["nm", "--undefined-only", *objects], text=True)
    names = {line.split()[-1].partition("@")[0] for line in needs.splitlines() if " U " in line}
    assert "sigaction" in names
    assert not names & MEMORY_FUNCTIONS
