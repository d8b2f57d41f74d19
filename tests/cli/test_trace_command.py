"""``pyharness trace``: the program runs as under Python, and what it did is shown in tables and files."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kit import needs
from kit.command import PYHARNESS
from kit.paths import ROOT

pytestmark = pytest.mark.rotated_tests(turns=8)


PROGRAM = ROOT / "tests/programs/traced_training.py"
PATIENCE = 90
LINGERS = """import ctypes, threading, torch
libc = ctypes.CDLL(None)
key = ctypes.c_uint()
libc.pthread_key_create(ctypes.byref(key), ctypes.cast(libc.usleep, ctypes.c_void_p))

def work():
    libc.pthread_setspecific(key, ctypes.c_void_p(900_000))  # microseconds, when Python has ended the thread
    torch.ones(3) * 2

thread = threading.Thread(target=work, name="worker")
thread.start()
thread.join()
"""
A_MUL = "import torch\ntorch.ones(3) * 2\n"


@pytest.fixture
def script(tmp_path):
    """Write a script."""

    def write(text):
        path = tmp_path / "it is.py"
        path.write_text(text)
        return path

    return write


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory):
    """One run with everything: the finished process, and the files that it wrote."""
    folder = tmp_path_factory.mktemp("views")
    words = ["--html", folder / "page.html", "-o", folder / "trace.json", "--shapes", "--memory", "--limit", "40"]
    command = [*PYHARNESS, "trace", *words, PROGRAM, "--", "one", "--two"]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done, folder


def test_a_thread_that_python_has_ended_keeps_its_name(pyharness, script):
    """Though the kernel has it a while longer, by the name of the program."""
    assert re.search(r"threads: .*\bworker \(", pyharness("trace", script(f"{LINGERS}torch.ones(3)\n")).stdout)


@pytest.mark.always
def test_the_tables_say_what_took_the_time(looked_at):
    output = looked_at[0].stdout
    assert "arguments one --two\n" in output
    head = next(line for line in output.splitlines() if "autograd nodes" in line)
    assert re.search(r"traced_training\.py: \d+ ops, \d+ autograd nodes, 4 backward passes, [\d.]+ m?s", head)
    assert re.search(r"2 threads: MainThread \(\d+\), second trainer \(\d+\)", output), output[:2000]
    modules, ops, nodes = (output.index(f"\nby {what}") for what in ("module", "op", "autograd node"))
    assert modules < ops < nodes
    assert re.search(r"^blocks\.1\.inner +\d+ .* (us|ms) .*%", output[modules:ops], re.MULTILINE)
    assert re.search(r"^aten::relu +8 .*% .* B +float32\[2, 4\]$", output[ops:nodes], re.MULTILINE)
    assert re.search(r"^ReluBackward0 +8 ", output[nodes:], re.MULTILINE)


def test_the_files_are_written_and_named(looked_at):
    done, folder = looked_at
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    assert {"X", "M", "s", "f"} == {event["ph"] for event in events}
    relu = next(event for event in events if event["name"] == "ReluBackward0")
    assert relu["args"]["module"] == "blocks.1"
    assert relu["args"]["fx node"] == "relu_1"
    assert "torch.relu(" in relu["args"]["code"]
    assert "<canvas" in (folder / "page.html").read_text()
    assert f"{folder}/page.html: " in done.stdout


def test_json_is_the_trace_and_nothing_else(pyharness):
    done = pyharness("trace", PROGRAM, "--json")
    trace = json.loads(done.stdout)
    assert "arguments" in done.stderr
    assert set(trace["threads"].values()) >= {"MainThread", "second trainer"}
    nodes = [event for event in trace["events"] if event["name"] == "ReluBackward0"]
    assert [node["module"] for node in nodes] == ["blocks.1", "blocks.0"] * 4
    assert {trace["events"][node["forward"]]["name"] for node in nodes} == {"aten::relu"}
    assert trace["lost"] == 0


def test_one_table_and_the_capacity_of_a_buffer(pyharness):
    done = pyharness("trace", "--by", "node", "--capacity", "16", PROGRAM)
    assert "by autograd node" in done.stdout
    assert "by op" not in done.stdout
    assert re.search(r"\d+ events lost", done.stdout)


def test_an_exception_in_a_program_that_forks_still_gives_its_trace(pyharness, script):
    path = script(
        f"{A_MUL}import os, time\n"
        "if os.fork() == 0:\n    while time.process_time() < 0.1: torch.ones(3) / 2\n    raise SystemExit(0)\n"
        "assert os.wait()[1] == 0\n"
        "raise ValueError('mine')\n"
    )
    done = pyharness("trace", path)
    assert done.returncode == 1
    assert "aten::mul" in done.stdout
    assert "aten::div" not in done.stdout
    assert re.search(r"child processes took [\d.]+ m?s of processor time: what they ran is not rec", done.stdout)
    assert done.stderr.rstrip().endswith("ValueError: mine")
    assert "pyharness" not in done.stderr


def test_regions_are_what_the_program_records_itself(pyharness, script):
    text = "import torch, pyharness\ntorch.ones(3) / 2\n"
    text += "for _ in range(2):\n    with pyharness.record(shapes=True):\n        torch.ones(3) * 2\n"
    done = pyharness("trace", "--regions", "--json", script(text))
    events = json.loads(done.stdout)["events"]
    assert [event["name"] for event in events if event["name"] in {"aten::mul", "aten::div"}] == ["aten::mul"] * 2
    assert events[-1]["start_ns"] > events[0]["start_ns"] + events[0]["duration_ns"]
    assert events[-1]["inputs"] is not None


def test_a_program_without_regions_is_told(pyharness, script):
    done = pyharness("trace", "--regions", script(A_MUL))
    assert done.returncode == 1
    assert "pyharness: The program made no recording of its own." in done.stderr


def test_ctrl_c_is_the_programs_and_what_it_did_is_shown(started, script):
    process = started("trace", script(f"{A_MUL}print('ready', flush=True)\nimport signal\nsignal.pause()\n"))
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "aten::mul" in output
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_a_terminal_sees_how_many_events_there_are(environment, script):
    path = script(f"{A_MUL}input()\nprint('done')")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(  # noqa: S606  (a list of arguments, no shell)
            sys.executable,
            [*PYHARNESS, "trace", str(path)],
            {**environment, "TERM": "xterm", "COLUMNS": "80"},
        )
    shown = read_until(terminal, rb"[1-9]\d* events, \d+ s")
    os.write(terminal, b"\n")
    shown = read_until(terminal, rb"aten::mul.*%")
    assert b"done" in shown
    while read_some(terminal):
        pass
    assert os.waitpid(pid, 0)[1] == 0


def read_some(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is closed
        return b""


def read_until(terminal, pattern):
    shown = b""
    while not re.search(pattern, shown):
        more = read_some(terminal)
        assert more, f"{pattern} is not in {shown}"
        shown += more
    return shown


# What follows never imports the real torch: it is about the process around it.


@pytest.mark.rotated
@pytest.mark.parametrize(
    "text",
    [
        "import sys; sys.exit(3)",
        "import sys; sys.exit('a message')",
        "1 / 0",
        "import sys; print(sys.argv, __name__, __file__, sys.path[0], sys.stdin.read())",
        "import sys, threading; print([each.name for each in threading.enumerate()], sys.gettrace())",
        "import sys; sys.modules.clear()",
        "import atexit; atexit.register(print, 'at exit'); raise KeyboardInterrupt",
    ],
)
def test_it_ends_and_speaks_as_under_python(pyharness, script, text):
    path = script(text)
    plain = subprocess.run(
        [sys.executable, path, "--list", "-m"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    done = pyharness("trace", path, "--", "--list", "-m")
    status = 128 - plain.returncode if plain.returncode < 0 else plain.returncode
    assert (done.returncode, done.stdout[: len(plain.stdout)]) == (status, plain.stdout)
    assert done.stderr.splitlines()[-1:] == plain.stderr.splitlines()[-1:]
    assert "No op ran in this process" in done.stdout


def test_a_module_in_another_folder(pyharness, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "somewhere.py").write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    done = pyharness("trace", "--cwd", tmp_path / "there", "-m", "somewhere", "--", "--json", "-x")
    assert done.stdout.startswith("__main__ ['--json', '-x']\n")


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("import os; os.kill(os.getpid(), 9)", 137, "SIGKILL killed the program: its trace died with it."),
        ("import os; os.kill(os.getpid(), 11)", 139, "SIGSEGV killed the program: its trace died with it."),
        ("import os; os._exit(5)", 5, "The program ended with exit status 5 and left no trace: os._exit, perhaps"),
        (
            "import os, shutil; shutil.rmtree(os.environ['PYHARNESS_HOME'])",
            1,
            "The folder for pyharness's files cannot be used: No such file or directory",
        ),
        ("import os; os._exit(0)", 1, "The program ended with exit status 0 and left no trace: os._exit, perhaps"),
    ],
)
def test_a_program_that_leaves_no_trace(pyharness, script, text, status, message):
    done = pyharness("trace", script(text))
    assert done.returncode == status
    assert f"pyharness: {message}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_program_that_becomes_another_user_leaves_no_trace(pyharness, script):
    needs.root("only root becomes another user")
    done = pyharness("trace", script("import os; os.setgid(65534); os.setuid(65534)"))
    assert done.returncode == 1
    assert "exit status 0 and left no trace: os._exit, perhaps, exec, another user" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_torch_that_cannot_be_recorded_is_said_before_the_program_goes_on(pyharness, tmp_path):
    (tmp_path / "torch.py").write_text("import sys\nsys.modules['pyharness._engine'] = None\n")
    (tmp_path / "mine.py").write_text("import torch\nprint('went on')\n")
    done = pyharness("trace", tmp_path / "mine.py")
    assert done.returncode == 1
    assert "went on" not in done.stdout
    assert "pyharness: " in done.stderr
    assert "Traceback" not in done.stderr


def test_its_folder_is_private_and_goes_with_it(pyharness, script, tmp_path):
    path = script(
        "import os, pathlib\n"
        "traces = pathlib.Path(os.environ['PYHARNESS_HOME'], 'traces')\n"
        "print([oct(each.stat().st_mode & 0o777) for each in (traces, *traces.iterdir())])\n"
    )
    assert pyharness("trace", path).stdout.startswith("['0o700', '0o700']\n")
    assert list((tmp_path / "state" / "traces").iterdir()) == []


def test_a_harness_that_is_told_to_end_ends_the_program(started, script, tmp_path):
    process = started("trace", script("import os, signal\nprint(os.getpid(), flush=True)\nsignal.pause()\n"))
    program = int(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    assert not Path(f"/proc/{program}").exists()
    assert list((tmp_path / "state" / "traces").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Which script?"),
        (("missing.py",), "There is no script 'missing.py'."),
        (("/",), "'/' is a folder without a __main__.py."),
        (("--python", "pythoon", __file__), "There is no Python interpreter 'pythoon'."),
        (("--html", "/nowhere/at/all.html", __file__), "There is no folder '/nowhere/at' to write 'all.html' to."),
        (("-o", "/", __file__), "'/' is a folder."),
        (("--by", "modul", __file__), "modul"),
        (("--limit", "0", __file__), "--limit"),
        (("--capacity", "0", __file__), "--capacity"),
        (("--capacity", "99999999999", __file__), "--capacity"),
        (("--html", "a.html", "-o", "./a.html", __file__), "--html and --perfetto name one file, ./a.html."),
        (("--html", "never.html", "-o", "link.html", __file__), "--html and --perfetto name one file, link.html."),
        (("--html", "there.html", "-o", "hard.html", __file__), "--html and --perfetto name one file, hard.html."),
        (("--html", "there.html", "there.html"), "--html there.html would overwrite the program."),
        (("--cwd", "folder", "-o", "folder/it.py", "it.py"), "--perfetto folder/it.py would overwrite the program."),
        (("--regions", "--inner-ops", __file__), "--inner-ops does not go with --regions."),
    ],
)
def test_what_cannot_be_meant(pyharness, words, message):
    (pyharness.folder / "link.html").symlink_to("never.html")
    (pyharness.folder / "there.html").touch()
    (pyharness.folder / "hard.html").hardlink_to(pyharness.folder / "there.html")
    (pyharness.folder / "folder").mkdir()
    (pyharness.folder / "folder" / "it.py").touch()
    done = pyharness("trace", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_outputs_without_an_end_may_be_one(pyharness, script):
    done = pyharness("trace", "--html", "/dev/null", "-o", "/dev/null", script("x = 1"))
    assert done.returncode == 0, done.stderr


def test_a_buffer_for_which_there_is_no_room_is_said_in_one_sentence(pyharness, script):
    words = ("bash", "-c", 'ulimit -v 20000000; exec "$@"', "bash", *PYHARNESS)
    done = pyharness("trace", "--capacity", 1 << 28, script("import torch\nprint('ran')"), command=words)
    assert done.returncode == 1
    assert "There is no address space for a buffer of 268435456 events." in done.stderr
    assert "Traceback" not in done.stderr
