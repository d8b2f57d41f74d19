"""`dump_stacks` and `pyharness stack` on real processes and cores: every CPython that is here, and what goes wrong."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from kit import needs
from kit.builds import library
from kit.command import PYHARNESS
from kit.interpreters import cases, interpreters, readable, until_it_reads, waiting
from kit.marks import marks
from kit.paths import PROGRAMS
from pyharness.debugger.gdb_reading import StackDumpError
from pyharness.debugger.stack_dump import dump_stacks
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.stack_format import format_threads

pytestmark = pytest.mark.rotated_tests(turns=6)


FRAMES = "py_frames.py"
GIL = "py_holds_gil.py"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "home"))


def status(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def assert_runs_on(process):
    """Nothing is attached to it or has stopped it, and it does what it is told."""
    found = status(process.pid)
    assert found["TracerPid"] == "0"
    assert found["State"][0] in "SR", found["State"]
    process.stdin.write("go\n")
    process.stdin.flush()
    assert process.wait(30) == 0


def assert_is_merged(thread):
    """The stack of py_frames.py: Python, its loops, qsort in C, Python again."""
    frames = [frame for frame in thread.frames if not frame.plumbing or frame.language == "python"]
    here = [(frame.function.rsplit(".", 1)[-1], frame.line) for frame in frames if frame.file and FRAMES in frame.file]
    where = marks(PROGRAMS / FRAMES)
    assert here[0] == ("stop", where["stop"])
    assert [entry for entry in here if entry[0] in {"generate", "inner", "compare", "main"}] == [
        ("generate", where["generator"]),
        ("inner", where["coroutine"]),
        ("compare", where["compare"]),
        ("main", where["qsort"]),
    ]
    names = [frame.function for frame in thread.frames]
    compare, main = names.index("compare"), names.index("main")
    between = [name for name in names[compare:main] if "qsort" in name or "ffi" in name or "msort" in name]
    assert between, f"no qsort between the callback and its caller:\n{names}"
    assert names.index("<module>") < len(names) - 1, "what started the interpreter lies below the module"


@pytest.mark.rotated
@pytest.mark.parametrize("name", cases(readable()))
def test_every_python_alive_and_dead(name, tmp_path):
    with waiting(readable()[name], FRAMES) as (process, said):
        threads = dump_stacks(said["pid"])
        core = tmp_path / "core file"
        subprocess.run(["gcore", "-o", core, str(said["pid"])], check=True, capture_output=True)
        assert_runs_on(process)
    dead = dump_stacks(Path(f"{core}.{said['pid']}"))
    for main, other in (threads, dead):
        assert_is_merged(main)
        assert (main.note, other.note) == ("", "")
        assert other.name.startswith("Thread-1")
        assert next(frame.function for frame in other.frames if frame.language == "python") == "wait_here"
    assert [frame.function for frame in threads[0].frames] == [frame.function for frame in dead[0].frames]


def test_a_stripped_libpython(tmp_path):
    name = next((name for name, path in interpreters().items() if shared_library(path)), None)
    if name is None:
        needs.skip("needs a Python with a shared libpython")
    library = shared_library(interpreters()[name])
    subprocess.run(["strip", "-o", tmp_path / library.name, library], check=True)
    with waiting(interpreters()[name], FRAMES, environment={"LD_LIBRARY_PATH": str(tmp_path)}) as (process, said):
        assert str(tmp_path) in Path(f"/proc/{said['pid']}/maps").read_text()
        main, _other = dump_stacks(said["pid"])
        assert_is_merged(main)
        assert_runs_on(process)


def shared_library(path):
    return next(Path(path).resolve().parent.parent.glob("lib/libpython3.*.so.1.0"), None)


def test_a_native_stop_that_holds_the_gil():
    with waiting(sys.executable, GIL) as (_process, said):
        # As they were made; a newer gdb numbers them in another order.
        main, foreign, spinning = sorted(dump_stacks(said["pid"]), key=lambda thread: thread.lwp)
        assert [main.holds_gil, foreign.holds_gil, spinning.holds_gil] == [True, False, False]
        hold = next(frame for frame in main.frames if frame.function == "hold")
        assert (hold.language, hold.line) == ("python", marks(PROGRAMS / GIL)["hold"])
        assert all(frame.language == "native" for frame in foreign.frames)
        assert any(frame.function == "spin" for frame in spinning.frames)


def test_a_crash(tmp_path):
    """The core of a program that read address 8: which signal, where, and through which Python line."""
    script = tmp_path / "crash.py"
    script.write_text("import ctypes\ndef crash():\n    ctypes.string_at(8)\ncrash()\n")
    core = tmp_path / "core"
    run = ["gdb", "-nx", "-q", "-batch", "-ex", "run", "-ex", f"gcore {core}", "--args", sys.executable, script]
    subprocess.run(run, check=True, capture_output=True)
    (thread,) = dump_stacks(core)
    assert thread.signal == "SIGSEGV at address 0x8"
    assert [(f.function, f.line) for f in thread.frames if f.file == str(script)] == [("crash", 3), ("<module>", 4)]
    assert f"{thread.lwp}  SIGSEGV at address 0x8" in next(format_threads([thread])).text


def test_one_thread_and_its_locals():
    with waiting(sys.executable, FRAMES) as (_process, said):
        (thread,) = dump_stacks(said["pid"], thread=said["pid"], variables=True)
        stop = next(frame for frame in thread.frames if frame.function == "stop")
        assert dict(stop.variables)["text"] == "'hé€'"
        with pytest.raises(UsageError, match="no thread"):
            dump_stacks(said["pid"], thread=said["pid"] + 999_999)


def test_no_python_in_the_process():
    with subprocess.Popen(["sleep", "1000"]) as process:
        (thread,) = dump_stacks(process.pid)
        process.kill()
    assert "no Python" in thread.note
    assert all(frame.language == "native" for frame in thread.frames)


def test_what_is_no_code_has_called_nothing():
    """Where a function has no call frame information its caller is guessed, and a pointer to data is none."""
    calls = "import ctypes, sys; library = ctypes.CDLL(sys.argv[1]); print(flush=True); library.wait_for_input()"
    words = [sys.executable, "-c", calls, library(PROGRAMS / "no_frame_information.cpp")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        until_it_reads(process.pid)
        (thread,) = dump_stacks(process.pid)
        process.kill()
    innermost, *others = (frame for frame in thread.frames if frame.language == "native")
    assert innermost.function == "wait_for_input"
    assert not others
    assert [frame.function for frame in thread.frames if frame.language == "python"] == ["<module>"]


def test_libraries_that_cannot_be_opened():
    """The names of their functions are missing, and it says why: this process may open too few files."""
    with waiting(sys.executable, GIL) as (process, said):
        for most in range(30, 3, -1):
            words = ["sh", "-c", f'ulimit -n {most}; exec "$@"', "sh", *PYHARNESS, "stack", str(said["pid"])]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if "not opened (Too many open files), see ulimit -n" in done.stdout:
                break
            assert done.returncode == 0, f"{most}: {done.stderr}"
        else:
            pytest.fail("it could always open all")
        assert process.poll() is None


def test_a_subinterpreter_that_another_thread_runs(tmp_path):
    """Up to Python 3.12 it runs by the thread state of the main thread, which made it: where its frames lie tells."""
    script = tmp_path / "sub.py"
    script.write_text(
        "import threading\n"
        "try:\n    import _xxsubinterpreters as sub\nexcept ImportError:\n    import _interpreters as sub\n"
        "made = sub.create()\n"
        "def run():\n    sub.run_string(made, 'print(1, flush=True); import time; time.sleep(100)')\n"
        "def waits():\n    threading.Event().wait()\n"
        "threading.Thread(target=run, daemon=True).start()\n"
        "waits()\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        time.sleep(0.2)  # it sleeps, and the main thread waits
        main, other = sorted(dump_stacks(process.pid), key=lambda thread: thread.lwp)
        process.kill()
    functions = [[frame.function for frame in one.frames if frame.language == "python"] for one in (main, other)]
    assert functions[0][-2:] == ["waits", "<module>"]
    assert (functions[1][0], functions[1][1]) == ("<module>", "run")
    assert "run" not in functions[0]


def test_one_debugger_at_a_time():
    with waiting(sys.executable, FRAMES) as (process, said):
        command = ["gdb", "-nx", "-q", "-ex", f"attach {said['pid']}", "-ex", "echo attached\\n"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as gdb:
            assert any("attached\n" in line for line in gdb.stdout)
            with pytest.raises(HarnessError, match="debugged already"):
                dump_stacks(said["pid"])
            gdb.communicate("detach\nquit\n")
        assert_runs_on(process)


def test_readings_at_once_wait_for_each_other():
    with waiting(sys.executable, FRAMES) as (process, said):
        command = [*PYHARNESS, "stack", str(said["pid"])]
        readings = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in "12345"
        ]
        for reading in readings:
            stacks, errors = reading.communicate()
            assert (reading.returncode, "stop" in stacks) == (0, True), errors
        assert_runs_on(process)


def test_a_reading_that_does_not_end_is_called_one(monkeypatch):
    monkeypatch.setattr("pyharness.reading.live.snapshot._PATIENCE", 0.5)
    with waiting(sys.executable, FRAMES) as (process, said):
        pretends = "python pass  # pyharness.ingdb.opening import report"
        command = ["gdb", "-nx", "-q", "-ex", pretends, "-ex", f"attach {said['pid']}", "-ex", "echo attached\\n"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as gdb:
            assert any("attached\n" in line for line in gdb.stdout)
            with pytest.raises(HarnessError, match=rf"being read by another pyharness .*\(gdb, pid {gdb.pid}\)"):
                dump_stacks(said["pid"])
            gdb.communicate("detach\nquit\n")
        assert_runs_on(process)


def test_cores_that_are_none(tmp_path):
    text = tmp_path / "text"
    text.write_text("hello")
    with pytest.raises(UsageError, match="not a core file"):
        dump_stacks(text)
    with pytest.raises(UsageError, match="not a core file"):
        dump_stacks(Path(sys.executable))
    with pytest.raises(UsageError, match="cannot be read"):
        dump_stacks(tmp_path / "nowhere")


def test_corrupt_cores(tmp_path):
    with waiting(sys.executable, FRAMES) as (_process, said):
        subprocess.run(["gcore", "-o", tmp_path / "core", str(said["pid"])], check=True, capture_output=True)
    whole = (tmp_path / f"core.{said['pid']}").read_bytes()
    for name, data in (
        ("head", whole[:64]),
        ("half", whole[: len(whole) // 2]),
        ("noise", whole[:64] + os.urandom(4096)),
    ):
        (tmp_path / name).write_bytes(data)
        with suppress(StackDumpError):  # either an error with a message, or what is left
            assert all(thread.to_json() for thread in dump_stacks(tmp_path / name))


def test_a_process_that_is_gone():
    with subprocess.Popen(["true"]) as process:
        process.wait()
    for variables in (False, True):
        with pytest.raises(HarnessError, match="no running process"):
            dump_stacks(process.pid, variables=variables)


def test_no_gdb(monkeypatch):
    monkeypatch.setenv("PYHARNESS_GDB", "no-such-gdb")
    with pytest.raises(HarnessError, match="gdb was not found") as caught:
        dump_stacks(os.getpid())
    assert "apt-get install gdb" in caught.value.remedy


def test_a_gdb_that_dies(monkeypatch, tmp_path):
    broken = tmp_path / "gdb"
    broken.write_text("#!/bin/sh\necho something is wrong >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PYHARNESS_GDB", str(broken))
    with pytest.raises(StackDumpError, match="without an answer") as caught:
        dump_stacks(os.getpid())
    assert "something is wrong" in caught.value.remedy


HANGS = """#!/bin/sh
exec {gdb} -iex 'python
import gdb, time
def hang(_event):
    gdb.events.new_thread.disconnect(hang)
    open("{hangs}", "w").close()
    while True: time.sleep(0.01)
gdb.events.new_thread.connect(hang)
end' "$@"
"""


@pytest.mark.rotated
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_ended_while_gdb_is_attached(number, tmp_path):
    """Ctrl-C, an orderly end, and the end that nobody can prevent: the program runs on."""
    slow = tmp_path / "gdb"
    slow.write_text(HANGS.format(gdb=shutil.which("gdb"), hangs=tmp_path / "hangs"))
    slow.chmod(0o755)
    with waiting(sys.executable, FRAMES) as (process, said):
        command = [*PYHARNESS, "stack", str(said["pid"]), "--locals"]
        environment = {**os.environ, "PYHARNESS_GDB": str(slow)}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as harness:
            wait_until((tmp_path / "hangs").exists)
            assert status(said["pid"])["TracerPid"] != "0"
            harness.send_signal(number)
            harness.communicate(timeout=60)
        wait_until(lambda: status(said["pid"])["TracerPid"] == "0")
        wait_until(lambda: status(said["pid"])["State"][0] in "SR")
        assert_runs_on(process)


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it does not come to pass"


def test_the_command_line_in_json():
    with waiting(sys.executable, FRAMES) as (process, said):
        command = [*PYHARNESS, "stack", str(said["pid"]), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert_runs_on(process)
    answer = json.loads(done.stdout)
    main, other = answer["threads"]
    stop = next(frame for frame in main["stack"] if frame["function"] == "stop")
    assert (stop["language"], stop["file"], stop["fx"]) == ("python", str((PROGRAMS / FRAMES).resolve()), None)
    assert other["stack"]


def test_the_command_line_in_text():
    with waiting(sys.executable, FRAMES) as (_process, said):
        command = [*PYHARNESS, "stack", str(said["pid"])]
        done = subprocess.run([*command, "--thread", str(said["pid"])], capture_output=True, text=True, check=True)
        assert f"Thread {said['pid']} " in done.stdout
        assert "sys.stdin.readline()  # @stop" in done.stdout
        assert "frames of interpreter" in done.stdout
        assert "\033[" not in done.stdout


def test_a_script_names_the_process_that_runs_it(tmp_path):
    """It is a file, like a core, and may be called by a path that is none from here."""
    script = tmp_path / f"{tmp_path.parent.name}_{tmp_path.name}.py"
    script.symlink_to(PROGRAMS / FRAMES)
    with waiting(sys.executable, str(script)) as (_process, said):
        for name in (str(script), "/".join(script.parts[-2:])):
            command = [*PYHARNESS, "stack", name, "--json"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            assert json.loads(done.stdout)["target"] == str(said["pid"])
