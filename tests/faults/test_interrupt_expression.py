"""Ctrl-C in the terminal while an expression runs: the whole group gets it, and only the expression ends."""

import os
import signal
import subprocess

from kit.command import PYHARNESS
from kit.paths import PROGRAMS

SCRIPT = PROGRAMS / "plain_lines.py"


def test_ctrl_c_ends_the_expression_and_the_session_goes_on():
    read, write = os.pipe()
    begun = f"open('/proc/{os.getpid()}/fd/{write}', 'wb').write(b'x')"
    looks = ["--eval-timeout", "600", "--print", f"[{begun}, __import__('time').sleep(600)]", "--print", "x + 10"]
    command = [*PYHARNESS, "step", str(SCRIPT), "--at", "py:plain_lines.py:7", *looks]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=SCRIPT.parent, start_new_session=True
    ) as step:
        os.read(read, 1)
        os.killpg(step.pid, signal.SIGINT)
        output, _ = step.communicate(timeout=60)
    os.close(read)
    os.close(write)
    assert "<error: InterruptedError" in output or "<error: KeyboardInterrupt" in output
    assert "x + 10 = 10" in output
    assert "total" in output
    assert step.returncode == 3
