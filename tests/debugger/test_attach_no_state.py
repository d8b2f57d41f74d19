"""Attaching where there is no folder for handles: the program keeps none, and debuggers come and go all the same."""

import subprocess
import sys

import pytest

from kit.paths import ROOT

ATTACH = """
import sys, pyharness
with pyharness.attach(int(sys.argv[1])) as program:
    print(program.run_to(sys.argv[2]).frame.function)
"""


def attached(walker):
    """A controller of its own, whose temporary folder goes with it; where it stopped."""
    command = [sys.executable, "-c", ATTACH, str(walker.pid), walker.at("work")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.rotated
@pytest.mark.parametrize("how", [{"handle": "walker"}, {}], ids=["run", "python"])
def test_debuggers_come_by_process_id_one_after_another(running, monkeypatch, how):
    monkeypatch.setenv("PYHARNESS_HOME", "/proc/nope")
    walker = running("attach_loop.py", "calls", **how)
    assert [attached(walker) for _ in range(3)] == ["work"] * 3
    walker.ends_free()
