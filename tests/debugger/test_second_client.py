"""Programs that ask debugpy for a client of their own: nothing comes of it while pyharness debugs them."""

import subprocess

import pytest

from kit.command import PYHARNESS

PROGRAM = """\
import sys
import debugpy
where = debugpy.CALL
debugpy.wait_for_client()
print(where, debugpy.is_client_connected())
end = 1
"""
CALLS = [
    ("listen(5678)", "('127.0.0.1', 5678)"),
    ("listen(('localhost', 0))", "('localhost', 0)"),
    ("connect(('127.0.0.1', 9))", "None"),
    ("wait_for_client()", "None"),
]


@pytest.mark.parametrize(("call", "answer"), CALLS)
def test_a_place_behind_the_call_stops(tmp_path, call, answer):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.replace("CALL", call))
    step = [*PYHARNESS, "step", script, "--at", f"py:{script}:6", "--print", "where"]
    done = subprocess.run(step, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{answer} True" in done.stdout
    assert f"where = {answer}" in done.stdout
    said = f"pyharness: debugpy.{call.partition('(')[0]} does nothing here: pyharness debugs this program already."
    assert done.stderr.splitlines().count(said) == 1
