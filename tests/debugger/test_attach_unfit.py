"""A program whose Python no debugger works in: it is told in one sentence, and the program runs on."""

import os
import subprocess
import sys

import pytest

import pyharness
from pyharness.model.errors import HarnessError

pytestmark = pytest.mark.rotated_tests(turns=2)

PROGRAM = """
import sys
exec(sys.argv[1])
print(flush=True)
sys.exit(len(sys.stdin.read()))
"""


@pytest.mark.parametrize(
    ("pretends", "why"),
    [
        ("sys.abiflags = 't'", "it runs a free-threaded build; needed is CPython with the GIL."),
        ("sys.implementation.name = 'other'", "it runs other; needed is CPython."),
        (
            "import types; sys.modules['pyharness'] = types.ModuleType('pyharness')",
            f"it has imported pyharness of another project (None), and this is {pyharness.__version__}.",
        ),
        ("sys.path[:] = sys.meta_path[:] = []", "ModuleNotFoundError: No module named 'json'."),
        ("sys.version_info = (3, 8, 18, 'final', 0)", "it runs Python 3.8; needed is 3.9 or newer."),
    ],
)
def test_it_is_refused(pretends, why):
    command = [sys.executable, "-c", PROGRAM, pretends]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "\n"
        with pytest.raises(HarnessError) as refused:
            pyharness.attach(program.pid)
        assert refused.value.message == f"Process {program.pid} cannot be debugged as a Python program: {why}"
        program.communicate("four")
        assert program.returncode == 4


@pytest.mark.parametrize(
    ("files", "seconds", "why"),
    [(3, 4, "did not run our Python code"), *((files, 15, "Too many open files") for files in (4, 5, 6))],
)
def test_one_that_may_open_few_files_is_told_how_it_may_open_more(files, seconds, why):
    """Wherever it comes to the end of them; what the limit of six does not allow depends on which thread is first."""
    few = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))"
    command = [sys.executable, "-c", PROGRAM, few]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "\n"
        with pytest.raises(HarnessError, match=why) as refused:
            pyharness.attach(program.pid, seconds=seconds)
        assert f"`prlimit --nofile=1024 --pid {program.pid}`" in refused.value.remedy
        program.communicate("four")
        assert program.returncode == 4


LOOP = """
import sys, time
print(flush=True)
while sys.stdin.closed is False:
    time.sleep(0.01)
"""


def test_another_version_that_is_only_installed_is_no_obstacle(tmp_path):
    (tmp_path / "site-packages" / "pyharness").mkdir(parents=True)
    (tmp_path / "site-packages" / "pyharness" / "__init__.py").write_text("__version__ = '0.0.1'\n")
    script = tmp_path / "loop.py"
    script.write_text(LOOP)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site-packages")}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment) as program:
        program.stdout.readline()
        with pyharness.attach(program.pid) as attached:
            assert attached.run_to(f"py:{script}:5").frame.line == 5
            assert attached.evaluate("__import__('pyharness').__version__") == repr(pyharness.__version__)
        program.kill()
