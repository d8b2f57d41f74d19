"""Programs that take from Python what a debugger in them needs: they run as before, and stop and log where told."""

import re
import subprocess
import sys

import pytest

from kit.command import PYHARNESS
from kit.terminal import Terminal

pytestmark = pytest.mark.rotated_tests(turns=3)


_BODY = """
def f(i):
    a = i * 2
    return a
SPOIL
f(1)
f(2)
print("the end")
"""
_LINE = 4
SPOILS = {
    "an import that raises": """
import builtins, atexit
plain = builtins.__import__
def refuse(*_, **__):
    raise ImportError("no imports here")
builtins.__import__ = refuse
atexit.register(setattr, builtins, "__import__", plain)
""",
    "nothing to import from": "import sys; sys.modules.clear(); sys.path.clear(); sys.meta_path.clear()",
    "no file to open": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))",
    "no memory for a thread": "import resource; resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))",
    "another json": """
import json
dumps, loads = json.dumps, json.loads
json.dumps = lambda *given, **named: dumps(*given, **named).encode()
json.loads = lambda text, **named: loads(text, object_pairs_hook=tuple)
""",
    "little room to recurse": """
import atexit, sys
sys.setrecursionlimit(30)
atexit.register(lambda: sys.getrecursionlimit() == 30 or print("another limit", file=sys.stderr))
""",
    "builtins of its own": "import builtins; builtins.any = builtins.sum = None",
}


@pytest.fixture(params=SPOILS)
def spoiled(request, tmp_path):
    path = tmp_path / "spoiled.py"
    path.write_text(_BODY.replace("SPOIL", SPOILS[request.param]))
    plain = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert (plain.stdout, plain.stderr) == ("the end\n", "")
    return path


@pytest.mark.always
def test_it_stops(pyharness, spoiled):
    done = pyharness("step", spoiled, "--at", f"py:{spoiled}:{_LINE} if i == 2", "--print", "a", "--print", "i")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "a = 4\n" in done.stdout
    assert "i = 2\n" in done.stdout
    assert "the end" in done.stdout


@pytest.mark.rotated
def test_it_logs(pyharness, spoiled):
    done = pyharness("step", spoiled, "--log", f"py:{spoiled}:{_LINE} if a", "at {i}: {a}")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert re.findall(r"at \d: \d", done.stdout) == ["at 1: 2", "at 2: 4"]


def test_code_without_builtins(pyharness, tmp_path):
    path = tmp_path / "bare.py"
    bare = "#\n" * 20 + "a = 1\nb = 2\n"
    path.write_text(f"exec(compile({bare!r}, __file__, 'exec'), {{'__builtins__': {{}}}})\n" + "pass\n" * 30)
    for condition in ("", " if a == 1"):
        done = pyharness("step", path, "--at", f"py:{path}:22{condition}", "--print", "a")
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert "a = 1\n" in done.stdout


@pytest.mark.parametrize("verb", ["run", "step"])
def test_the_prompt_behind_the_end_is_the_programs(environment, tmp_path, verb):
    path = tmp_path / "ends.py"
    path.write_text("import sys\nname = 'mine'\nsys.exit(3)\n")
    terminal = Terminal([*PYHARNESS, verb, str(path)], {**environment, "PYTHONINSPECT": "1"})
    terminal.wait_for(">>> ")
    assert "SystemExit: 3" in terminal.text
    assert "start.py" not in terminal.text
    terminal.type("name * 2\n1 / 0\n")
    terminal.wait_for("'minemine'")
    terminal.wait_for("ZeroDivisionError")
    terminal.type("exit(9)\n")
    assert terminal.ends() == 9
    assert "sys.exit(" not in terminal.text.partition("exit(9)")[2]


def test_what_python_does_at_the_end_is_the_programs_own(pyharness, environment, tmp_path):
    path = tmp_path / "ends.py"
    path.write_text("print('the end')\n")
    inspects = {**environment, "PYTHONINSPECT": "1"}
    for verb in ("run", "step"):
        done = pyharness(verb, path, env=inspects)
        assert done.returncode == 0
        assert done.stdout.startswith("the end\n")
        assert "Traceback" not in done.stderr
        path.write_text("print('the end')\nexit(3)\n")
        done = pyharness(verb, path, env=inspects)
        assert done.returncode == 1, "what Python says that ends at no prompt"
        assert done.stderr.count("SystemExit: 3") == 1
        assert "pyharness/" not in done.stderr
        path.write_text("print('the end')\n")
    done = pyharness("run", "-m", "..ends")
    assert (done.returncode, "Relative module names not supported" in done.stderr) == (1, True)
