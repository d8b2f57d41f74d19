"""Files of the current folder and of the script's are the program's alone: no part of the debugger runs them.

Both folders have a file for each module that Python, debugpy, torch or ours could mean; it says so when it is run.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyharness

pytestmark = pytest.mark.rotated_tests(turns=5)


TRAPS = "argparse code debugpy gdb inspect json numpy pydevd pyharness queue random select socket tempfile torch types"
RAN = "a file of the folder was run:"
SCRIPT = """import os
import sys
print(sys.path)
print(os.environ.get("PYTHONPATH"), os.environ.get("PYTHONSAFEPATH"))
stop = 1
import queue
print("its own" if queue.__file__ == os.path.join(os.path.dirname(__file__), "queue.py") else queue.__file__)
"""
COMMAND = str(Path(sys.executable).with_name("pyharness"))


def lay_traps(folder):
    folder.mkdir()
    for name in TRAPS.split():
        (folder / f"{name}.py").write_text(f"import sys\nprint({RAN!r}, __name__, file=sys.stderr)\n")
    script = folder / "script.py"
    script.write_text(SCRIPT)
    return script


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A script among traps, with the current folder full of them, too."""
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    lay_traps(tmp_path / "current")
    monkeypatch.chdir(tmp_path / "current")
    return lay_traps(tmp_path / "scripts")


def run(*words, **environment):
    env = {**os.environ, **environment}
    return subprocess.run(
        [*map(str, words)], env=env, capture_output=True, text=True, timeout=180, check=False, stdin=subprocess.DEVNULL
    )


DOORS = {
    "step": ("step", "--at", "py:{script}:5", "--over", "--json", "{script}"),
    "run": ("run", "{script}"),
    "trace": ("trace", "{script}"),
    "fx show": ("fx", "show", "{script}"),
    "fx compiled": ("fx", "compiled", "{script}"),
}


@pytest.mark.rotated
@pytest.mark.parametrize("safe", ["", "1"], ids=["", "PYTHONSAFEPATH"])
@pytest.mark.parametrize("door", DOORS)
def test_the_program_has_the_path_and_the_files_that_plain_python_gives_it(script, door, safe):
    plain = run(sys.executable, script, PYTHONSAFEPATH=safe)
    assert plain.returncode == 0, plain.stderr
    debugged = run(COMMAND, *(word.format(script=script) for word in DOORS[door]), PYTHONSAFEPATH=safe)
    said = debugged.stdout + debugged.stderr
    for line in plain.stdout.splitlines():
        assert line in said
    assert said.count(RAN) == plain.stderr.count(RAN), said


@pytest.mark.usefixtures("script")
def test_modules_of_the_current_folder_are_a_modules_own():
    plain = run(sys.executable, "-m", "script")
    debugged = run(COMMAND, "step", "-m", "script", "--at", "py:script.py:5", "--json", "--over")
    assert plain.stdout.splitlines()[-1] == "its own"
    assert set(plain.stdout.splitlines()) <= set((debugged.stdout + debugged.stderr).splitlines())
    assert debugged.stderr.count(RAN) == 1


@pytest.mark.usefixtures("script")
def test_doctor_and_determinism_import_none():
    for words in (("doctor",), ("vscode", "--print"), ("fx", "determinism", "nowhere.py:none")):
        done = run(COMMAND, *words)
        assert RAN not in done.stdout + done.stderr, words


LOOP = "import sys, time\nprint(flush=True)\nwhile True:\n    time.sleep(0.01)\n    passed = 1\n"


@pytest.mark.parametrize("front", [[sys.executable], [COMMAND, "run"]], ids=["plain", "handle"])
def test_attaching_runs_none_and_may_come_again(script, front):
    loop = script.with_name("loop.py")
    loop.write_text(LOOP)
    program = subprocess.Popen([*front, loop], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with program:
        program.stdout.readline()
        for _ in range(2):
            with pyharness.attach(program.pid) as debugged:
                stop = debugged.run_to(f"py:{loop}:5")
                assert stop.frame.line == 5
                assert debugged.evaluate("py:sys.path[0]") == repr(str(loop.parent))
        program.kill()
        assert RAN.encode() not in program.stderr.read()
