"""Suites that have bad luck beside their crash: folders, users, terminals, and what the next process finds."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kit import needs

pytestmark = pytest.mark.rotated_tests(turns=8)

CRASH = "import ctypes, os, pytest\n\ndef test_a(): pass\ndef test_crash(): ctypes.string_at(0)\n"
LOCKED = """import os, pytest
if os.path.exists("lock"):
    {}
open("lock", "w").close()
"""


def theirs(folder):
    """What the plugin has among the temporary files of this process's user."""
    return sorted(path.name for path in folder.glob("pyharness-*"))


@pytest.mark.parametrize("finds", ["getattr(pytest, 'skip')('locked', allow_module_level=True)", "raise OSError()"])
def test_a_crash_is_told_whatever_the_next_process_collects(suite, finds):
    ran = suite(LOCKED.format(finds) + CRASH)
    assert ran.outcomes["test_crash"] == "failed", ran.output
    assert ran.outcomes["test_a"] == "passed"
    assert "at 0x0: a null pointer" in ran.case("test_crash")[0]
    assert ran.code


@pytest.mark.parametrize(
    ("hook", "code"),
    [
        ("pytest_runtest_logreport(report):\n    if report.failed: os._exit(3)", 3),
        ("pytest_runtest_logstart(nodeid):\n    if 'test_b' in nodeid: ctypes.string_at(0)", 128 + 11),
        ("pytest_report_teststatus(report):\n    if 'test_b' in report.nodeid: ctypes.string_at(0)", 128 + 11),
    ],
)
def test_a_hook_that_ends_the_process_of_each_report_is_not_met_for_ever(suite, tmp_path, hook, code):
    (tmp_path / "conftest.py").write_text(f"import ctypes, os\ndef {hook}\n")
    ran = suite("def test_a(): pass\ndef test_b(): assert 0\ndef test_c(): pass\n")
    assert ran.code in {code, 128 - code}
    assert ran.output.count("a fresh process goes on") == 1, ran.output


def test_threads_before_pytest_leave_no_limit_and_no_folder(suite, tmp_path, monkeypatch):
    (tmp_path / "threads.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(100,), daemon=True).start()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    ran = suite("def test_a(): pass\n", "-p", "threads", "--pyharness-timeout", "9")
    assert (
        "this process had threads before pytest began, of the program or of a plugin; no test has a limit" in ran.output
    )
    assert not theirs(tmp_path)


def test_a_conftest_that_crashes_is_told(suite, tmp_path):
    (tmp_path / "conftest.py").write_text("import ctypes\nctypes.string_at(0)\n")
    ran = suite("def test_a(): pass\n")
    assert "SIGSEGV (Segmentation fault) at 0x0: a null pointer" in ran.output
    assert "conftest.py:2" in ran.output
    assert ran.code


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--pyharness-report", "/proc/x"], "--pyharness-report /proc/x: No such file or directory."),
        (["--pyharness-timeout", "nan"], "pyharness_timeout is no number of seconds"),
        (["--pyharness-timeout", "-1"], "pyharness_timeout is no number of seconds"),
    ],
)
def test_what_cannot_be_is_said_before_any_test(suite, options, said):
    ran = suite(CRASH, *options)
    assert said in ran.output
    assert ran.code == pytest.ExitCode.USAGE_ERROR


def test_a_debugger_without_a_terminal_is_pdb(suite):
    ran = suite("def test_a(): assert 0\ndef test_b(): pass\n", "--pdb")
    assert "INTERNALERROR" not in ran.output
    assert "(Pdb)" in ran.output


def test_one_nan_is_one_failure(suite):
    ran = suite("import torch\ndef test_nan(ph_nan): torch.zeros(2) / torch.zeros(2)\n", plugin=())
    assert "1 failed in" in ran.output, ran.output
    assert "NonFiniteError" in ran.case("test_nan")[0]


OVERWRITES = """import torch
def steps(inputs):
    weights = torch.ones(3, requires_grad=True)
    outputs = (weights * 1).sin() * 1
    product = outputs * outputs
    outputs.data.add_(inputs)
    product.sum().backward()
def test_overwrites(ph_overwritten): steps(torch.ones(3))
def test_overwrites_unasked(): steps(torch.ones(3))
def test_raises_itself(ph_overwritten):
    steps(torch.ones(3))
    assert False, "its own"
def test_harmless(ph_overwritten): torch.ones(3, requires_grad=True).exp().sum().backward()
"""


def test_a_saved_tensor_that_is_overwritten_fails_the_test_that_asks(suite):
    ran = suite(OVERWRITES, plugin=())
    outcomes = {"test_overwrites": "failed", "test_raises_itself": "failed"}
    assert ran.outcomes == {"test_overwrites_unasked": "passed", "test_harmless": "passed", **outcomes}
    message, text = ran.case("test_overwrites")
    assert "MulBackward0 takes a tensor that was overwritten after it was saved." in message + text
    assert "outputs.data.add_(inputs)" in text
    assert "its own" in ran.case("test_raises_itself")[0]
    assert "outputs.data.add_(inputs)" in ran.output  # on what the test wrote to stderr


def without_junit(tmp_path, text, *options, before=()):
    (tmp_path / "test_theirs.py").write_text(text)
    command = [
        *before,
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--pyharness",
        *options,
        "test_theirs.py",
    ]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100)


def test_a_report_of_another_run_is_not_this_ones(tmp_path):
    """In containers process ids repeat."""
    alone = needs.surroundings(
        ["unshare", "--pid", "--fork", "--mount-proc"], "no processes of one's own here (unshare)"
    )
    options = ("--pyharness-report", str(tmp_path / "kept"))
    first = without_junit(tmp_path, CRASH, *options, before=alone)
    assert "at 0x0: a null pointer" in first.stdout
    second = without_junit(tmp_path, "import os\n\ndef test_crash(): os._exit(3)\n", *options, before=alone)
    assert "exit code 3" in second.stdout, second.stdout
    assert "null pointer" not in second.stdout


def test_a_test_that_gives_up_root():
    if os.geteuid():
        needs.skip("only root can give that up")
    gives_up = "import os\n\ndef test_gives_up():\n    os.setgid(65534)\n    os.setuid(65534)\n\n"
    with tempfile.TemporaryDirectory() as folder:  # all may look into it
        Path(folder).chmod(0o755)
        done = without_junit(Path(folder), gives_up + "def test_fails(): assert 0\n")
    assert "FAILED test_theirs.py::test_fails - assert 0" in done.stdout, done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr


def test_no_terminal_obeys_a_test(suite, tmp_path):
    (tmp_path / "conftest.py").write_text(
        "import ctypes, pytest\n"
        "class Odd(pytest.Item):\n"
        "    def runtest(self): ctypes.string_at(0)\n"
        "def pytest_collection_modifyitems(session, items):\n"
        "    items.insert(0, Odd.from_parent(session, name='x\\x1b[31m'))\n"
    )
    ran = suite("def test_a(): pass\n", "--color=no")
    said = next(line for line in ran.output.splitlines() if "a fresh process goes on" in line)
    assert "\x1b" not in said
    assert said.isprintable()


def test_a_reason_is_said_where_memory_is_limited(tmp_path):
    script = tmp_path / "limited.py"
    script.write_text(
        "import resource, ctypes\nresource.setrlimit(resource.RLIMIT_AS, (120 << 20,) * 2)\nctypes.string_at(0)\n"
    )
    environment = {**os.environ, "PYHARNESS_HOME": str(tmp_path / "state")}
    command = [sys.executable, "-m", "pyharness", "run", "--report", str(tmp_path / "out"), str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode < 0
    assert "no report: ." not in done.stderr
    assert "no report" in done.stderr or list(Path(tmp_path / "out").glob("*.json")), done.stderr
