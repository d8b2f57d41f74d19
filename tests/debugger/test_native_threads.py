"""Threads that C makes and that call Python: known while they live, and nothing of them is left behind."""

import re
import subprocess

import pytest

import pyharness
from kit.interpreters import cases, interpreters
from kit.names import qualified

CODE = """#include <pthread.h>
static int (*called)(int);
static void *calls(void *times) {
  for (long n = 0; n < (long)times; n++) called((int)n);
  return 0;
}
void run(int (*callback)(int), long times) {
  pthread_t threads[2];
  called = callback;
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, calls, (void *)times);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
void run_here(int (*callback)(int), long times) {
  called = callback;
  calls((void *)times);
}
int twice(int n) {
  return 2 * n;
}
"""
PROGRAM = """import ctypes, threading

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def called(n):
    return n

ctypes.CDLL({library!r}).run(called, ctypes.c_long(50))
print("end", threading.active_count())
"""


TRACED = [name for name in interpreters() if tuple(map(int, name.partition("-")[0].split("."))) >= (3, 10)]
"""Pythons in which threads that C made stop at lines: 3.9 has no door at which its frames could be seen."""


@pytest.fixture
def library(tmp_path):
    """The C code that makes threads, built."""
    (tmp_path / "threads.c").write_text(CODE)
    library = tmp_path / "threads.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-g", "-o", library, tmp_path / "threads.c", "-lpthread"], check=True)
    return library


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases(TRACED))
def test_nothing_is_left_of_them(version, pyharness, library, tmp_path):
    program = tmp_path / "calls.py"
    program.write_text(PROGRAM.format(library=str(library)))
    commands = ["b py:calls.py:5 if n == 5", "c", "c", "delete", "c"]
    words = ("debug", "--python", interpreters()[version], program)
    done = pyharness(*words, stdin=None, input="".join(f"{each}\n" for each in commands))
    assert done.stdout.count("breakpoint · python · called") == 2
    assert "end 1\n" in done.stdout
    assert done.stderr == ""


STEPS = 40
STEPPED = """import ctypes, time

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def called(n):
    time.sleep(0.002)
    n = library.twice(n)
    return n

library = ctypes.PyDLL({library!r})
ctypes.CDLL({library!r}).run(called, ctypes.c_long(2000))
"""


@pytest.mark.rotated_tests(turns=3)
def test_no_step_out_is_lost_where_another_thread_stops_meanwhile(library, tmp_path):
    """debugpy lets every thread go, also one whose stop it has just told: the test saw that every tenth time."""
    (tmp_path / "calls.py").write_text(STEPPED.format(library=str(library)))
    with pyharness.debug(tmp_path / "calls.py") as program:
        for _ in range(STEPS):
            program.run_to("native:twice")
            stop = program.out()
            assert stop is not None
            assert [frame.function for frame in program.stack() if not frame.plumbing] == ["called", "calls"]


HELD = """import _thread, ctypes, sys, threading

gate = _thread.allocate_lock()
gate.acquire()

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def called(n):
    n = library.twice(n)
    return gate.acquire(n == 0) * n

def is_held():
    return sys._current_frames()[calls.ident].f_code.co_name != "called"

library = ctypes.PyDLL({library!r})
calls = threading.Thread(target=ctypes.CDLL({library!r}).run_here, args=(called, ctypes.c_long(2)), daemon=True)
calls.start()
while calls.is_alive():
    calls.join(0.01)
"""


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases(TRACED))
def test_a_step_out_ends_in_python_where_its_thread_was_held_as_it_returned_before(version, library, tmp_path):
    """What was said of that return was taken for a word on the next stop of the thread: the step went on into C."""
    script = tmp_path / "held.py"
    script.write_text(HELD.format(library=str(library)))
    with pyharness.debug(script, python=interpreters()[version]) as program:
        program.run_to("native:twice")
        program.out()
        program.run_to(f"py:{script}:18")
        program.evaluate("gate.release()")
        while program.evaluate("is_held()") != "True":
            pass
        program.run_to("native:twice")
        program.out()
        assert [frame.function for frame in program.stack() if not frame.plumbing][:2] == ["called", "calls"]


NESTED = """import torch

class Nested(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        depth = ctx.depth
        if depth:
            with torch.enable_grad():
                Nested.apply(torch.ones(2, requires_grad=True), depth - 1).sum().backward()
        return grad * 2, None

Nested.apply(torch.ones(2, requires_grad=True), 80).sum().backward()
"""


def test_a_backward_on_a_thread_of_autograds(pyharness, tmp_path):
    """The engine takes a thread of its own where backwards are nested too deep."""
    (tmp_path / "nested.py").write_text(NESTED)
    words = ("debug", tmp_path / "nested.py", "--at", f"py:{tmp_path}/nested.py:12 if depth == 5")
    done = pyharness(*words, stdin=None, input="p __import__('threading').current_thread()\ndelete\nc\n")
    assert done.returncode == 0, done.stderr
    assert "breakpoint · python · " in done.stdout
    assert "<_DummyThread(" in done.stdout


def test_a_node_in_cxx_on_such_a_thread_is_shown_with_who_waits_for_it(pyharness, tmp_path):
    """So is each node that runs on a GPU: the engine has a thread for each."""
    (tmp_path / "nested.py").write_text(NESTED)
    words = ("debug", tmp_path / "nested.py", "--at", "node:SumBackward0 hits 62")
    done = pyharness(*words, stdin=None, input="bt\np py:depth\ndelete\nout\nc\n")
    assert done.returncode == 0, done.stderr
    stack = done.stdout.partition("(ph) bt\n")[2].partition("(ph)")[0]
    assert re.match(r"→ +0  native  SumBackward0\n +works for thread \d+ \(MainThread\):\n", stack)
    assert f"python  {qualified('Nested.backward')}" in stack
    assert "p py:depth\n20\n" in done.stdout
    assert re.search(r"step · python · backward · \S*nested\.py:\d+\n", done.stdout)
