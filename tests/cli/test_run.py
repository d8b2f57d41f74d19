"""``pyharness run``: the program runs as without us, and is listed while it lives."""

import json
import os
import resource
import signal
import subprocess
import sys

import pytest

from kit.command import PYHARNESS

PATIENCE = 60
LITTLE = 60 << 20
"""Bytes of addresses, with which Python starts and no thread of ours does."""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Start ``pyharness run ...``."""
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))
    started = []

    def start(*words, **options):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        command = [*PYHARNESS, "run", *map(str, words)]
        started.append(subprocess.Popen(command, text=True, start_new_session=True, **pipes))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def script(tmp_path):
    """Write a script."""

    def write(text):
        path = tmp_path / "it is.py"
        path.write_text(text)
        return path

    return write


def test_it_runs_also_where_no_thread_can_be_had(run, script):
    path = script("print('done')")
    process = run(path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LITTLE, LITTLE)))
    output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (0, "done\n")
    assert errors == "pyharness: no handle: no memory for a thread.\n"


def listed(run):
    output, _ = run("--list", "--json").communicate(timeout=PATIENCE)
    return json.loads(output)["handles"]


@pytest.mark.rotated
@pytest.mark.parametrize(
    "text",
    [
        "print('done')",
        "import sys; sys.exit(3)",
        "import sys; sys.exit('a message')",
        "raise SystemExit",
        "1 / 0",
        "def f(:",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "raise KeyboardInterrupt",
        "import atexit; atexit.register(print, 'at exit'); raise KeyboardInterrupt",
        "import sys; print(sys.argv, __name__, __file__, sys.path[0], sys.stdin.read())",
        "import sys, threading; print([each.name for each in threading.enumerate()], sys.gettrace())",
        "import os; os._exit(5)",
        "import os; os.close(2); raise ValueError",
        "import sys; sys.modules.clear()",
        "import sys; ends = sys.exit; sys.modules.clear(); ends(3)",
        "import sys; sys.modules.clear(); 1 / 0",
        "import sys; del sys.excepthook; 1 / 0",
        "import ctypes, threading as t; t.Timer(0.2, t.stack_size).start(); ctypes.CDLL(None).pthread_exit(0)",
        "import ctypes; ctypes.CDLL(None).pthread_exit(0)",
    ],
)
def test_it_ends_and_speaks_as_under_python(run, script, text):
    path = script(text)
    plain = subprocess.run(
        [sys.executable, path, "--list", "-m"], input="in\n", capture_output=True, text=True, check=False
    )
    process = run(path, "--list", "-m")
    output, errors = process.communicate("in\n", timeout=PATIENCE)
    assert (process.returncode, output) == (plain.returncode, plain.stdout)
    own, _, theirs = errors.partition("\n")
    assert own.startswith("pyharness: handle it-is-")
    assert theirs.splitlines()[-1:] == plain.stderr.splitlines()[-1:]
    assert "pyharness" not in theirs


def test_ctrl_c_ends_it_as_python_ends(run, script):
    process = run(script("print('ready', flush=True)\nimport time\ntime.sleep(600)"))
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_a_signal_that_the_program_waits_for_is_the_programs(run, script):
    text = """import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
print('ready', flush=True)
print(signal.sigwait({signal.SIGTERM}).name)
"""
    process = run(script(text))
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=PATIENCE)[0] == "SIGTERM\n"
    assert process.returncode == 0


def test_a_module_with_options_of_its_own(run, tmp_path):
    (tmp_path / "somewhere.py").write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    for module in (("-m", "somewhere"), ("-msomewhere",)):
        process = run(*module, "--json", "-x", cwd=tmp_path)
        assert process.communicate(timeout=PATIENCE)[0] == "__main__ ['--json', '-x']\n"


def test_handles_are_listed_while_their_programs_live(run, script):
    path = script("print('ready', flush=True); input()")
    process = run("--name", "sleeper", path)
    assert process.stdout.readline() == "ready\n"
    (known,) = listed(run)
    assert (known["name"], known["pid"], known["parent"]) == ("sleeper", process.pid, "")
    assert str(path) in known["command"]
    assert "sleeper" in run("--list").communicate(timeout=PATIENCE)[0]
    process.communicate("\n", timeout=PATIENCE)
    assert listed(run) == []


def test_what_a_killed_program_left_is_cleaned_up(run, script, tmp_path):
    process = run("--name", "sleeper", script("print('ready', flush=True); input()"))
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.wait()
    folder = tmp_path / "state" / "run"
    assert sorted(path.name for path in folder.iterdir()) == ["sleeper.json", "sleeper.sock"]
    assert listed(run) == []
    assert list(folder.iterdir()) == []


def test_its_files_are_private(run, script, tmp_path):
    process = run("--name", "sleeper", script("print('ready', flush=True); input()"))
    assert process.stdout.readline() == "ready\n"
    folder = tmp_path / "state" / "run"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_a_name_is_given_once_and_given_again(run, script):
    path = script("print('ready', flush=True); input()")
    process = run("--name", "sleeper", path)
    assert process.stdout.readline() == "ready\n"
    second = run("--name", "sleeper", path)
    errors = second.communicate(timeout=PATIENCE)[1]
    assert second.returncode == 2
    assert f"There is a program 'sleeper' already: process {process.pid}." in errors
    process.kill()
    process.wait()
    assert run("--name", "sleeper", path).stdout.readline() == "ready\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Which script?"),
        (("-m",), "Which script?"),
        (("missing.py",), "There is no script 'missing.py'."),
        ((".",), "'.' is a folder without a __main__.py."),
        (("--name", "12", "x.py"), "There is no script"),
        (("--name", "a/b", __file__), "'a/b' cannot be a handle."),
        (("--name", "12", __file__), "'12' cannot be a handle."),
        (("--python", "pythoon", __file__), "There is no Python interpreter 'pythoon'."),
    ],
)
def test_what_cannot_be_meant(run, words, message):
    process = run(*words)
    errors = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2
    assert message in errors
