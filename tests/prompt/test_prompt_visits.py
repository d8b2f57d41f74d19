"""The prompt at what was not started for it: a core file, and a running program by its handle."""

import subprocess
import sys

import pytest

from kit import needs
from kit.command import PYHARNESS
from kit.dialogue import blocks
from kit.interpreters import interpreters
from kit.paths import PROGRAMS
from kit.processes import ends_within

pytestmark = pytest.mark.rotated_tests(turns=6)


PROGRAM = PROGRAMS / "prompted.py"


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """The core file of a program that sleeps."""
    needs.a_program("gcore")
    folder = tmp_path_factory.mktemp("core")
    command = [sys.executable, "-u", str(PROGRAM), "sleep"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert [process.stdout.readline() for _ in range(2)] == ["hello\n", "sleeping\n"]
        subprocess.run(["gcore", "-o", folder / "core", str(process.pid)], check=True, capture_output=True)
        process.kill()
    return folder / f"core.{process.pid}"


@pytest.fixture
def served(environment):
    """The handle of a program of ``pyharness run``, and its process."""
    command = [*PYHARNESS, "run", "--name", "spinner", str(PROGRAM), "spin"]
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    settings = {**environment, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=settings, text=True, start_new_session=True, **pipes) as process:
        assert process.stderr.readline().startswith("pyharness: handle spinner")
        assert [process.stdout.readline() for _ in range(2)] == ["hello\n", "spinning\n"]
        yield "spinner", process
        process.kill()


def test_a_core_file_is_looked_at(piped, core):
    commands = [
        "bt",
        "locals",
        "up",
        "p box.content['deep'][1]",
        "pp found",
        "list",
        "threads",
        "whatis box",
        "info args",
        "stack",
    ]
    done = piped(commands, program=core)
    assert done.returncode == 0, done.stderr
    shown = blocks(done.stdout)
    rows = [row.lstrip("→ ").split()[1:3] for row in shown["bt"].splitlines()]
    assert rows[-3:] == [["python", "sleep"], ["python", "main"], ["python", "<module>"]]
    assert "_box = <Box at 0x" in shown["locals"]
    assert "python · main · " in shown["up"]
    assert shown["p box.content['deep'][1]"].strip() == "2"
    assert shown["whatis box"].strip() == "Box"
    assert shown["pp found"].strip() == "12"
    assert "def main():" in shown["list"]
    assert "MainThread" in shown["threads"]
    assert "python  sleep " in shown["stack"]


def test_a_core_s_native_frame_knows_what_its_python_caller_does(piped, core):
    done = piped(["frame 0", "p py:_box.content['deep'][1]"], program=core)
    assert done.returncode == 0, done.stderr
    shown = blocks(done.stdout)
    assert "native · clock_nanosleep" in shown["frame 0"]
    assert shown["p py:_box.content['deep'][1]"].strip() == "2"


def test_a_module_has_what_it_computed_and_not_what_python_gave_it(piped, core):
    done = piped(["up", "up", "locals"], program=core)
    shown = blocks(done.stdout, repeated=True)
    assert "python · <module> · " in shown[1][1]
    assert "found = " not in shown[2][1]
    assert "__" not in shown[2][1].replace("__main__", "")


@pytest.mark.parametrize(
    "command", ["c", "n", "out", "set found = 2", "b total", "watch found", "py found = 1", "jump 3", "kill", "run"]
)
def test_what_would_run_or_change_a_core_file_is_refused(piped, core, command):
    done = piped([command, "p 'never'"], program=core)
    assert done.returncode in {1, 2}
    assert "core file" in done.stderr or "was not started here" in done.stderr
    assert "Traceback" not in done.stderr
    assert "never" not in done.stdout


def test_a_program_by_its_handle(dialogue, served):
    name, process = served
    at = dialogue(program=name)
    assert "pause · python · spin · " in at.text
    assert "count" in at.says("locals")
    assert "step · python · spin" in at.says("n")
    assert "python  main" in at.says("bt")
    assert "This program was not started here." in at.says("run")
    assert "A session file starts its program" in at.says("save x.toml")
    assert "runs on without a debugger" in at.says("detach", "debugger.")
    assert at.ends() == 0
    assert not ends_within(process.pid, 0)


def test_a_program_by_its_handle_goes_on_to_its_end(dialogue, served):
    name, process = served
    at = dialogue(program=name)
    at.says("py count = -5")
    assert "the program ended with exit code 0" in at.says("c")
    assert process.wait() == 0
    assert "No program is being debugged." in at.says("bt")


@pytest.fixture(params=["3.12", "3.13"])
def server(request):
    """A process that runs the standard library alone."""
    if request.param not in interpreters():
        needs.skip(f"no Python {request.param} is here")
    command = [interpreters()[request.param], "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("Serving HTTP on")
        yield process.pid
        process.kill()


@pytest.mark.rotated
def test_a_pause_where_nothing_of_the_users_runs(piped, server):
    """Rules keep steps out of all that runs there, and would leave none of the stack. Some pauses are native."""
    for _ in range(9):
        done = piped(["bt full", "p 6 * 7"], program=server)
        assert done.returncode == 0, done.stdout + done.stderr
        shown = blocks(done.stdout)
        assert shown["p 6 * 7"].strip() == "42"
        if done.stdout.startswith("1  pause · python · "):
            break
    assert done.stdout.startswith("1  pause · python · "), done.stdout
    assert "serve_forever" in shown["bt full"]


@pytest.mark.usefixtures("served")
def test_no_such_handle_names_the_nearest(pyharness):
    done = pyharness("debug", "spiner")
    assert done.returncode == 2
    assert (
        done.stderr
        == "pyharness: There is no script 'spiner', nor a program that is called so.\nDid you mean spinner?\n"
    )


def test_a_core_that_is_none_is_said(pyharness, tmp_path):
    (tmp_path / "core").write_bytes(b"\x7fELF" + bytes(100))
    done = pyharness("debug", tmp_path / "core")
    assert done.returncode in {1, 2}
    assert "is not a core file." in done.stderr
