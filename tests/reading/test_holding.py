"""How a process is held: it goes on as it was, whatever becomes of it or of us."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from kit.command import PYHARNESS
from kit.interpreters import until_it_reads, waiting
from pyharness.host.process_state import is_stopped, tasks, tracer_of
from pyharness.reading.live.refusal import RefusedError
from pyharness.reading.live.stacks import read_stacks
from pyharness.reading.live.tracing import Tracer

FRAMES = "py_frames.py"
HOLDS_ONE = """
import ctypes, sys
PTRACE_SEIZE = 0x4206
assert ctypes.CDLL(None).ptrace(PTRACE_SEIZE, int(sys.argv[1]), 0, 0) == 0
print("holds", flush=True)
sys.stdin.read()
"""
HOLDS = """
import sys, time
from pyharness.reading.live.tracing import Tracer
with Tracer(int(sys.argv[1])):
    print("holds", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "home"))


def state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def await_that(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it does not come to pass"


def assert_runs_on(process):
    """It reads the line that it waits for, in the system call that was interrupted, and ends in order."""
    process.stdin.write("go\n")
    process.stdin.flush()
    assert process.wait(30) == 0


def test_it_stands_and_goes_on():
    with waiting(sys.executable, FRAMES) as (process, said):
        with Tracer(said["pid"]) as tracer:
            threads = set(tasks(said["pid"]))
            assert set(tracer.standing) == threads
            assert len(threads) > 1
            assert {state(f"{said['pid']}/task/{lwp}") for lwp in threads} == {"t"}
            assert tracer_of(said["pid"]) == os.getpid()
        assert tracer_of(said["pid"]) == 0
        assert_runs_on(process)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_who_holds_it_is_killed(number):
    with waiting(sys.executable, FRAMES) as (process, said):
        command = [sys.executable, "-c", HOLDS, str(said["pid"])]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as holder:
            assert holder.stdout.readline() == b"holds\n"
            assert state(said["pid"]) == "t"
            holder.send_signal(number)
            holder.wait()
        await_that(lambda: state(said["pid"]) == "S")
        assert_runs_on(process)


def test_none_is_kept_where_one_is_refused():
    """The thread that another tracer has comes last: those before it were seized."""
    with waiting(sys.executable, FRAMES) as (process, said):
        *others, last = sorted(tasks(said["pid"]))
        assert others
        command = [sys.executable, "-c", HOLDS_ONE, str(last)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as holder:
            assert holder.stdout.readline() == b"holds\n"
            with pytest.raises(PermissionError), Tracer(said["pid"]):
                pass
            assert {tracer_of(lwp) for lwp in others} == {0}
            holder.communicate()
        assert_runs_on(process)


def test_signals_arrive_once(tmp_path):
    """One that is on its way when the process is held is neither lost nor doubled."""
    script = tmp_path / "signals.py"
    script.write_text(
        "import os, signal\n"
        "readable, writable = os.pipe()\n"
        "os.set_blocking(writable, False)\n"
        "signal.set_wakeup_fd(writable)\n"  # C's handler writes to it: no signal waits for Python
        "signal.signal(signal.SIGUSR1, lambda *_: None)\n"
        "os.write(1, b'r')\n"
        "while True:\n    os.write(1, os.read(readable, 1) and b'.')\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as process:
        assert process.stdout.read(1) == b"r"
        for _ in range(200):
            os.kill(process.pid, signal.SIGUSR1)
            with Tracer(process.pid):
                pass
            assert process.stdout.read(1) == b"."
        os.set_blocking(process.stdout.fileno(), False)
        assert process.stdout.read(1) is None
        process.kill()


def test_another_thread_of_ours_hears_of_the_stop():
    """It asks for its child meanwhile, as `Popen.poll` does: then the stop is told to it."""
    with waiting(sys.executable, FRAMES) as (process, said):
        ended = threading.Event()
        asks = threading.Thread(target=ask_until, args=(said["pid"], ended))
        asks.start()
        for _ in range(20):
            assert said["pid"] in read_stacks(said["pid"]).known
        ended.set()
        asks.join()
        assert_runs_on(process)


def ask_until(pid, ended):
    while not ended.is_set():
        os.waitpid(pid, os.WNOHANG)


def test_it_is_stopped_already():
    with waiting(sys.executable, FRAMES) as (process, said):
        os.kill(said["pid"], signal.SIGSTOP)
        await_that(lambda: is_stopped(said["pid"]))
        assert any(frame.function == "stop" for frame in read_stacks(said["pid"]).threads[0].frames)
        await_that(lambda: is_stopped(said["pid"]))
        os.kill(said["pid"], signal.SIGCONT)
        assert_runs_on(process)


def test_threads_that_come_and_go(tmp_path):
    script = tmp_path / "threads.py"
    script.write_text(
        "import threading, time\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    made = [threading.Thread(target=time.sleep, args=(0.001,)) for _ in range(8)]\n"
        "    [thread.start() for thread in made]\n"
        "    [thread.join() for thread in made]\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        for _ in range(20):
            threads = read_stacks(process.pid).threads
            assert "<module>" in [frame.function for frame in threads[0].frames]
            assert process.poll() is None
        process.kill()


def test_it_is_killed_while_it_stands():
    with waiting(sys.executable, FRAMES) as (process, said):
        with Tracer(said["pid"]) as tracer:
            os.kill(said["pid"], signal.SIGKILL)
            await_that(lambda: state(said["pid"]) in "ZX")
            with pytest.raises(OSError, match="No such process"):
                tracer.registers(max(tracer.standing))
        assert process.wait(30) == -signal.SIGKILL


def test_who_may_not():
    if os.geteuid() or not shutil.which("setpriv"):
        pytest.fail("the container's tests run as root, with setpriv")
    with waiting(sys.executable, FRAMES) as (process, said):
        apart = ["setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
        command = [*apart, *PYHARNESS, "stack", str(said["pid"])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert "belongs to another user" in done.stderr
        assert process.poll() is None


def test_no_gdb_is_needed():
    with waiting(sys.executable, FRAMES) as (process, said):
        environment = {**os.environ, "PYHARNESS_GDB": "no-such-gdb"}
        command = [*PYHARNESS, "stack", str(said["pid"]), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert [frame["function"] for frame in json.loads(done.stdout)["threads"][0]["stack"]].count("stop")
        assert_runs_on(process)


def test_a_process_with_a_root_of_its_own(tmp_path):
    """Its libraries are not below ours: they are found through its own root."""
    if os.geteuid() or not shutil.which("unshare"):
        pytest.fail("needs root and unshare")
    program, source = tmp_path / "inside" / "program", tmp_path / "program.c"
    program.parent.mkdir()
    source.write_text(
        "#include <unistd.h>\nint waits(void) { char c; return read(0, &c, 1) + 1; }\n"
        'int main(void) { write(1, "ready\\n", 6); return waits(); }\n'
    )
    subprocess.run(["gcc", "-g", "-O0", "-static", "-o", program, source], check=True)
    command = ["unshare", "--mount", f"--root={program.parent}", "/program"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        until_it_reads(process.pid)
        (thread,) = read_stacks(process.pid).threads
        process.kill()
    assert [(frame.function, frame.line) for frame in thread.frames if frame.file] == [("waits", 2), ("main", 3)]


def test_there_is_none():
    with subprocess.Popen(["true"]) as process:
        process.wait()
    with pytest.raises(RefusedError, match="no running process"):
        read_stacks(process.pid)
