"""Ctrl-C in a terminal: the program hears it as well, and may save what it has."""

import os
import signal
import subprocess

import pytest

from kit.command import PYHARNESS
from kit.marks import place
from kit.paths import PROGRAMS
from kit.terminal import Terminal
from pyharness.host.exit_status import ExitStatus

SCRIPT = PROGRAMS / "saves.py"


@pytest.fixture
def step(environment):
    return Terminal([*PYHARNESS, "step", str(SCRIPT), "--at", place("work", SCRIPT)], environment)


def test_the_program_saves(step):
    step.wait_for("1  breakpoint")
    step.press_ctrl_c()
    assert step.ends() == ExitStatus.INTERRUPTED
    assert "saved" in step.text.split()


def test_another_one_ends_it(step):
    step.wait_for("1  breakpoint")
    step.press_ctrl_c()
    step.wait_for("saving")
    step.press_ctrl_c()
    assert step.ends() == ExitStatus.INTERRUPTED
    assert "saved" not in step.text.split()


SAVES = """
import time
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(0.2)
    print("saved", flush=True)
"""


@pytest.mark.rotated
@pytest.mark.parametrize(("verb", "send"), [("trace", os.kill), ("trace", os.killpg), ("fx show", os.kill)])
def test_the_program_hears_once_what_is_sent_to_us_alone_or_to_the_group(environment, tmp_path, verb, send):
    (tmp_path / "saves.py").write_text(SAVES)
    started = subprocess.Popen(
        [*PYHARNESS, *verb.split(), "saves.py"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert next(started.stdout) == "ready\n"
    send(started.pid, signal.SIGINT)
    out, _ = started.communicate(timeout=20)
    assert "saved" in out.split()
