"""Processes that run: dead, stopped, traced, someone else's, in a container, with libraries that were rebuilt."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from kit import needs
from kit.command import PYHARNESS
from kit.paths import TESTS
from pyharness.doctor.process.examine_process import examine_process

pytestmark = pytest.mark.rotated_tests(turns=2)

TRACER = TESTS / "faults" / "tracer.py"
REFUSES = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)"  # PR_SET_DUMPABLE
WAITS = "import sys; print('ready', flush=True); sys.stdin.read()"


@contextmanager
def waiting(*words, before=(), **options):
    """A Python that runs ``words`` and then waits for its input's end; the process id."""
    command = [*before, sys.executable, "-c", "; ".join([*words, WAITS])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options) as program:
        try:
            assert program.stdout.readline() == "ready\n"
            yield program.pid
        finally:
            program.kill()


def findings(target):
    """What is found about a process, by name."""
    return {one.check: one for one in examine_process(str(target))}


def doctor(*arguments, before=()):
    """The command line's exit status, findings and errors."""
    command = [*before, *PYHARNESS, "doctor", "--json", *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(ended.stdout).get("findings", [])  # an error has none
    return ended.returncode, {one["check"]: one for one in found}, ended.stderr


def test_a_plain_process():
    with waiting() as pid:
        found = findings(pid)
        state = Path(f"/proc/{pid}/status").read_text()
    assert {found[name].state for name in ("process", "ptrace", "python", "namespaces")} == {"ok"}
    assert found["python"].seen.startswith(f"It runs CPython {sys.version_info[0]}.{sys.version_info[1]},")
    assert {found[name].state for name in ("harness", "torch", "extensions")} == {"not applicable"}
    assert "State:\tS" in state  # it was not stopped


def test_no_such_process():
    status, _, errors = doctor(2**22 + 1)
    assert (status, "There is no process" in errors) == (2, True)


def test_one_that_has_ended():
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as program:
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
        found = findings(program.pid)
    assert (found["process"].state, "has ended" in found["process"].seen) == ("problem", True)
    assert list(found) == ["process"]


def test_one_that_was_stopped():
    with waiting() as pid:
        os.kill(pid, signal.SIGSTOP)
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
        found = findings(pid)
    assert (found["process"].state, f"kill -CONT {pid}" in found["process"].remedy) == ("warning", True)


def test_one_that_is_traced():
    with (
        waiting() as pid,
        subprocess.Popen([sys.executable, TRACER, str(pid)], stdout=subprocess.PIPE, text=True) as tracer,
    ):
        assert tracer.stdout.readline() == "traces\n"
        status, found, _ = doctor(pid)
        os.kill(pid, signal.SIGKILL)
    assert status == 1
    assert found["ptrace"]["state"] == "problem"
    assert f"by process {tracer.pid}" in found["ptrace"]["seen"]


def test_one_that_refuses(powerless):
    with waiting(REFUSES, before=powerless) as pid:
        status, found, _ = doctor(pid, before=powerless)
    assert (status, found["ptrace"]["state"]) == (1, "problem")
    assert "PR_SET_DUMPABLE" in found["ptrace"]["seen"]
    assert found["python"]["state"] == "not applicable"


def test_one_that_may_do_more(powerless):
    needs.root("only root has capabilities to give up")
    with waiting() as pid:
        status, found, _ = doctor(pid, before=powerless)
    assert (status, found["ptrace"]["state"]) == (1, "problem")
    assert "capabilities that this command has not" in found["ptrace"]["seen"]


def test_one_of_another_user(powerless):
    needs.root("only root can start a process of another user")
    as_nobody = [needs.a_program("setpriv"), "--reuid", "65534", "--clear-groups"]
    with subprocess.Popen([*as_nobody, "sh", "-c", "echo ready; read line"], stdin=-1, stdout=-1, text=True) as program:
        assert program.stdout.readline() == "ready\n"
        status, found, _ = doctor(program.pid, before=powerless)
        program.kill()
    assert (status, found["ptrace"]["state"]) == (1, "problem")
    assert "without CAP_SYS_PTRACE" in found["ptrace"]["seen"]
    assert "Attach as nobody" in found["ptrace"]["remedy"]


def test_one_without_python():
    with subprocess.Popen(["sh", "-c", "echo ready; read line"], stdin=-1, stdout=-1, text=True) as program:
        assert program.stdout.readline() == "ready\n"
        found = findings(program.pid)["python"]
        program.kill()
    assert found.state == "warning"


def test_libraries(compiled, tmp_path):
    library = Path(shutil.copy(compiled("op.so", "-g", "-O2", "-Wl,-z,lazy"), tmp_path))
    with waiting(f"import ctypes; ctypes.CDLL({str(library)!r}, 1)") as pid:
        found = findings(pid)
        assert found["optimized"].subject == str(library)
        assert (found["debug-info"].state, found["optimized"].state) == ("ok", "warning")
        library.unlink()
        gone = findings(pid)["file"]
    assert (gone.state, "It was deleted" in gone.seen) == ("problem", True)


@pytest.mark.parametrize(("version", "state"), [("2.13.0+cpu", "ok"), ("1.0.0", "warning")])
def test_torch(compiled, tmp_path, version, state):
    library = tmp_path / "torch/lib/libtorch_cpu.so"
    library.parent.mkdir(parents=True)
    shutil.copy(compiled("op.so", "-Wl,-z,lazy"), library)
    (tmp_path / "torch/version.py").write_text(f"__version__ = '{version}'\n")
    with waiting(f"import ctypes; ctypes.CDLL({str(library)!r}, 1)") as pid:
        found = findings(pid)["torch"]
    assert (found.state, version in found.seen) == (state, True)


@contextmanager
def unshared(*options, command=(), **env):
    """A process in namespaces of its own; its id as we see it."""
    prefix = ["unshare", *options, "--fork"]
    needs.surroundings(prefix, f"`{' '.join(prefix)}` is not allowed here")
    with waiting(before=[*prefix, *command], env={**os.environ, **env}) as outer:
        inner = Path(f"/proc/{outer}/task/{outer}/children").read_text().split()
        yield int(inner[0])


def test_other_process_ids():
    with unshared("--pid") as pid:
        found = findings(pid)["namespaces"]
    assert (found.state, "process 1 there" in found.seen) == ("ok", True)


def test_other_files(tmp_path, monkeypatch):
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    hide = ["sh", "-c", f'mount -t tmpfs tmpfs {tmp_path} && exec "$0" "$@"']
    with unshared("--mount", command=hide) as pid:
        everything = findings(pid)
    found = everything["namespaces"]
    assert (found.state, "other files" in found.seen) == ("warning", True)
    assert f"nsenter -t {pid} -a pyharness attach {pid}" in found.remedy
    assert everything["python"].state == "ok"  # read from its own files


def test_a_chroot_is_read_though_the_kernel_names_its_files_from_outside(tmp_path):
    change = ["sh", "-c", f'mount --bind / {tmp_path} && exec chroot {tmp_path} "$0" "$@"']
    with unshared("--mount", command=change) as pid:
        assert findings(pid)["python"].state == "ok"


def test_a_container_is_named(tmp_path):
    from pyharness.doctor.process import namespaces as process_namespaces
    from pyharness.doctor.process.live_process import LiveProcess

    process = LiveProcess(os.getpid(), None)
    process.proc = tmp_path
    name = "0123456789ab" + "c" * 52
    (tmp_path / "cgroup").write_text(f"0::/system.slice/docker-{name}.scope\n")
    assert "docker exec -it 0123456789ab pyharness attach 7" in process_namespaces._remedy(process, "7")


def test_one_of_ours(tmp_path):
    script = tmp_path / "waits.py"
    script.write_text("import sys\nprint('ready', flush=True)\nsys.stdin.read()\n")
    command = [*PYHARNESS, "run", "--name", "doctored", str(script)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, text=True) as program:
        while program.stdout.readline() != "ready\n":
            assert program.poll() is None
        found = [findings(name)["harness"] for name in ("doctored", program.pid, str(script))]
        program.kill()
    assert [(one.state, "'doctored'" in one.seen) for one in found] == [("ok", True)] * 3
