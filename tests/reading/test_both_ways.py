"""The stacks of a running process as we read them, against gdb: the same threads, frames, lines and nodes."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from kit import builds
from kit.interpreters import cases, readable, until_it_reads, waiting
from kit.paths import PROGRAMS
from pyharness.debugger.gdb_reading import dump_by_gdb
from pyharness.host.process_state import is_stopped
from pyharness.reading.live.stacks import read_stacks

pytestmark = pytest.mark.rotated_tests(turns=5)


WHOLE = {"thread": None, "limit": 1000, "variables": False}
FRAMES, GIL = "py_frames.py", "py_holds_gil.py"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "home"))


@contextmanager
def standing(pid):
    """It is stopped, as by Ctrl-Z: both read the same moment."""
    os.kill(pid, signal.SIGSTOP)
    await_stop(pid)
    yield
    await_stop(pid)  # a stop that others made is theirs to end
    os.kill(pid, signal.SIGCONT)


def await_stop(pid):
    deadline = time.monotonic() + 60
    while not is_stopped(pid):
        assert time.monotonic() < deadline, "it does not stand"


def assert_alike(pid):
    """Both ways show the same; returns the threads."""
    with standing(pid):
        ours, theirs = read_stacks(pid).threads, dump_by_gdb(pid, **WHOLE)[0]
        again = read_stacks(pid).threads
    assert ours == again, "what was kept is what was found"
    assert [shown(one) for one in ours] == [shown(one) for one in theirs]
    return ours


def shown(thread):
    """A thread as it is compared."""
    return replace(thread, frames=()), [frame_shown(frame) for frame in thread.frames]


def frame_shown(frame):
    node = frame.autograd and (frame.autograd.name, frame.autograd.sequence_number)
    # The code that a handler returns to is a label without a type, which gdb counts as a function's name.
    function = "??" if frame.function == "__restore_rt" else frame.function
    plumbing = frame.plumbing or function == "??"
    return frame.language, function, frame.file, frame.line, frame.library, frame.fx, node, plumbing


@pytest.mark.rotated(by="name")
@pytest.mark.parametrize("name", cases(readable()))
@pytest.mark.parametrize("program", [FRAMES, GIL])
def test_every_python(name, program):
    with waiting(readable()[name], program) as (_process, said):
        threads = assert_alike(said["pid"])
        assert any(frame.language == "python" for frame in threads[0].frames)


@contextmanager
def running(*command, said=b"ready\n", **options):
    """A program that has said that it is where it is to be."""
    pipes = {"stdout": subprocess.PIPE, "stdin": subprocess.PIPE}
    # Of a session of its own: the kernel continues a stopped process whose group loses its parents.
    with subprocess.Popen(command, start_new_session=True, **pipes, **options) as process:
        try:
            assert process.stdout.readline() == said
            yield process
        finally:
            process.kill()


def script(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text(text)
    return sys.executable, path


def names(thread):
    return [frame.function for frame in thread.frames]


def test_a_backward_and_a_data_loader(tmp_path):
    """The node in a stack of torch's, several threads, and a worker process that has none of the programs's threads."""
    text = """
import os, sys, torch
from torch.utils.data import DataLoader

class Waits(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        loader = DataLoader([1, 2, 3, 4], num_workers=1)
        (worker,) = [int(p) for p in open(f"/proc/self/task/{os.getpid()}/children").read().split()] or [0]
        for _ in loader:
            workers = open(f"/proc/self/task/{os.getpid()}/children").read().split()
            print("ready", flush=True)
            print(workers[-1], flush=True)
            sys.stdin.read()

torch.set_num_threads(2)
x = torch.rand(600, 600, requires_grad=True)
Waits.apply(torch.mm(x, x)).sum().backward()
"""
    with running(*script(tmp_path, text)) as process:
        worker = int(process.stdout.readline())
        main = assert_alike(process.pid)[0]
        assert [frame.autograd.name for frame in main.frames if frame.autograd] == ["WaitsBackward"]
        assert_alike(worker)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_threads_of_openmp_and_the_one_for_which_they_work(level):
    """Optimized, they keep no address of its variables: its function tells then."""
    path = str(builds.crossing("parallel", PROGRAMS / "parallel.cpp", "-fopenmp", level))
    command = sys.executable, PROGRAMS / "parallel_loop.py", "hold"
    with running(*command, said=b"begin\n", env={**os.environ, "PYTHONPATH": path}) as process:
        until(lambda: sum("parallel::hold" in names(one) for one in read_stacks(process.pid).threads) == 3)
        for threads in (read_stacks(process.pid).threads, dump_by_gdb(process.pid, **WHOLE)[0]):
            main, *others = threads
            assert main.works_for == 0
            assert [one.works_for for one in others if "parallel::hold" in names(one)] == [main.lwp] * 2
            assert all(one.works_for == 0 for one in others if "parallel::hold" not in names(one))


def until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline


def test_generated_code(tmp_path):
    """The FX node of a generated line, and a kernel of ours in the stack of torch's dispatcher."""
    text = """
import sys, torch
from torch import nn
from pyharness.fx import Tracer, materialize

def wait(x):
    print("ready", flush=True)
    sys.stdin.read()
    return x

torch.fx.wrap("wait")

class Model(nn.Module):
    def forward(self, x):
        return wait(x * 2) + 1

traced = torch.fx.GraphModule(Model(), Tracer().trace(Model()))
materialize(traced)
traced(torch.ones(2))
"""
    with running(*script(tmp_path, text)) as process:
        main = assert_alike(process.pid)[0]
        assert [frame.fx.node for frame in main.frames if frame.fx] == ["wait"]


def test_a_signal_handler_and_deep_recursion(tmp_path):
    text = """
import faulthandler, os, signal, sys
def handle(number, frame):
    print("ready", flush=True)
    sys.stdin.read()
signal.signal(signal.SIGUSR1, handle)
def deep(depth):
    return deep(depth - 1) if depth else sorted([3, 1], key=lambda _: os.kill(os.getpid(), signal.SIGUSR1))
deep(900)
"""
    with running(*script(tmp_path, text)) as process:
        assert names(assert_alike(process.pid)[0]).count("deep") == 901


def test_a_call_of_a_null_pointer(tmp_path):
    """Where the program counter is zero below a handler of signals, the stack goes on."""
    text = f"""
import ctypes
theirs, libc = ctypes.CDLL({str(builds.faults())!r}), ctypes.CDLL(None)

@ctypes.CFUNCTYPE(None, ctypes.c_int)
def handle(number):
    print("ready", flush=True)
    libc.pause()

libc.signal(11, handle)
theirs.calls_nothing(None)
"""
    with running(*script(tmp_path, text)) as process:
        found = names(assert_alike(process.pid)[0])
        place = found.index("calls_nothing")
        assert found[place - 1] == "??"
        assert "<module>" in found[place:]


NATIVE = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace ours {
namespace {
template <class T>
__attribute__((always_inline)) inline int innermost(T value) {
  return static_cast<int>(read(0, &value, 1)) + 1;
}
inline __attribute__((always_inline)) int middle(int value) {
  return innermost<long>(value) * 2;
}
struct Base {
  virtual ~Base() = default;
  virtual int run(int value) = 0;
};
struct Derived : Base {
  int run(int value) override {
    auto lambda = [&](int more) __attribute__((noinline)) { return middle(value + more) + 1; };
    return lambda(2) + 1;
  }
};
}  // namespace
__attribute__((noinline)) int compare(const void* left, const void* right) {
  Derived derived;
  Base* base = &derived;
  return base->run(*static_cast<const int*>(left) - *static_cast<const int*>(right)) + 1;
}
}  // namespace ours

static void on_signal(int) {
  int numbers[] = {2, 1};
  qsort(numbers, 2, sizeof(int), ours::compare);
}

int main(int count, char**) {
  stack_t other{malloc(1 << 20), 0, 1 << 20};
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = count > 1 ? SA_ONSTACK : 0;
  sigaction(SIGSEGV, &action, nullptr);
  puts("ready");
  fflush(stdout);
  volatile int* nowhere = nullptr;
  return *nowhere;
}
"""


@pytest.mark.rotated
@pytest.mark.parametrize(
    "flags", ["-O0 -g", "-O2 -g", "-O2 -g -gdwarf-4", "-O3 -g -gz", "-O1 -g1", "-O2", "-O2 -g -static"]
)
@pytest.mark.parametrize("arguments", [[], ["on another stack"]], ids=["", "on-another-stack"])
def test_inlined_functions_lambdas_and_signals(flags, arguments, tmp_path):
    """A handler of a signal, on the thread's stack or on another one, in what a compiler makes of C++."""
    source, program = tmp_path / "program.cpp", tmp_path / "program"
    source.write_text(NATIVE)
    subprocess.run(["g++", *flags.split(), "-o", program, source], check=True)
    with running(program, *arguments) as process:
        until_it_reads(process.pid)
        (thread,) = assert_alike(process.pid)
        if "-g" in flags.split():
            assert "ours::(anonymous namespace)::innermost<long>" in names(thread)
            assert "ours::(anonymous namespace)::middle" in names(thread)
            assert all(frame.line for frame in thread.frames if frame.function.startswith("ours::"))
