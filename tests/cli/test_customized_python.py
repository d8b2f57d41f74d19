"""What a Python runs before a program may be in the way of the debugger: one sentence says so, and ``run`` runs it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.rotated_tests(turns=5)


PROGRAM = """
def f(x):
    return x + 1
print("f is", f(3))
"""
HOSTILE = {
    "takes the arguments away": "import sys; sys.argv[:] = ['other']",
    "clears the path": "import sys; sys.path.clear()",
    "replaces modules": "import sys, types; sys.modules['pyharness'] = sys.modules['json'] = types.ModuleType('json')",
    "has a low recursion limit": "import sys; sys.setrecursionlimit(60)",
    "closes sockets": (
        "import os, stat\nfor n in range(3, 200):\n  try:\n    stat.S_ISSOCK(os.fstat(n).st_mode) and os.close(n)\n"
        "  except OSError: pass"
    ),
}
HARMLESS = {
    "raises": "raise RuntimeError('mine')",
    "prints": "print('from customized')",
    "traces": "import sys; sys.settrace(lambda *_: None)",
    "has a thread": "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    "clears the environment": "import os; os.environ.clear()",
}


@pytest.fixture
def customized(pyharness, tmp_path):
    """Run ``pyharness VERB`` on a program whose Python, and not ours, has this to run before it."""
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def run(custom, verb, *words):
        (packages,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
        (packages / "customized.py").write_text(custom)
        (packages / "customized.pth").write_text("import customized\n")  # Debian has a sitecustomize
        own = {
            name: value for name, value in pyharness.environment.items() if name != "PYTHONPATH"
        }  # the tests' has one
        return pyharness(verb, "--python", python, program, *words, cwd=tmp_path, env=own)

    return run


@pytest.mark.parametrize("custom", HOSTILE.values(), ids=HOSTILE)
def test_one_in_our_way_is_named_and_the_program_runs(customized, custom):
    done = customized(custom, "step", "--at", "py:program.py:3")
    assert done.returncode == 1
    assert "Nobody can debug this program: " in done.stderr
    assert "sitecustomize" in done.stderr
    assert "Traceback" not in done.stderr
    done = customized(custom, "run")
    assert (done.returncode, done.stdout) == (0, "f is 4\n"), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("custom", HARMLESS.values(), ids=HARMLESS)
def test_another_is_in_nobodys_way(customized, custom):
    done = customized(custom, "step", "--at", "py:program.py:3", "--print", "x", "--out")
    assert done.returncode == 0, done.stderr
    assert "   x = 3\n" in done.stdout
    assert "step · python · <module> · program.py:4" in done.stdout
    assert "f is 4\n" in done.stdout
