"""PYTHONPATH is the program's: what it hides from the command line does not end that, and the program finds it."""

import subprocess
import sys

from kit.command import PYHARNESS
from kit.marks import line_of
from pyharness.host import own_path

SCRIPT = """import click, json, queue
print(click.__name__, click.mine, json.mine, queue.mine)  # @shown
"""
NAMES = ("click", "json", "queue", "socket", "argparse", "threading")


def test_a_module_of_the_users_is_not_the_command_lines(environment, tmp_path):
    users = tmp_path / "users"
    users.mkdir()
    for name in NAMES:
        (users / f"{name}.py").write_text("mine = True\n")
    (users / "rich.py").write_text("raise ImportError('mine')\n")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    path = f"{users}:{environment.get('PYTHONPATH', '')}".rstrip(":")
    place = ["--at", f"py:{script}:{line_of('shown', script)}"]
    for words in (["step", script, *place], ["run", script], ["step", *place, "-m", "script"], ["run", "-m", "script"]):
        command, env = [*PYHARNESS, *map(str, words)], {**environment, "PYTHONPATH": path}
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "click True True True" in done.stdout


def test_the_users_code_finds_its_own_first(monkeypatch, tmp_path):
    users = [str(tmp_path / name) for name in ("one", "two")]
    monkeypatch.setenv("PYTHONPATH", ":".join([users[0], "", users[1], "/not/there"]))
    monkeypatch.setattr(sys, "path", ["/script", *users, "/python"])
    own_path.put_users_last()
    assert sys.path == ["/script", "/python", *users]
    own_path.put_users_first()
    assert sys.path == ["/script", *users, "/python"]
