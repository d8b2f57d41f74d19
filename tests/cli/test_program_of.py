"""What tells the program of a process from one that it was before."""

import os
import subprocess
import sys

from pyharness.host.process_state import program_of


def test_another_program_is_told_and_an_end_is_none():
    reads = "import os, sys; sys.stdin.readline(); os.execv(sys.executable, [sys.executable, '-c', 'input(); input()'])"
    with subprocess.Popen([sys.executable, "-c", reads], stdin=subprocess.PIPE, text=True) as process:
        before = program_of(process.pid)
        assert before
        assert program_of(process.pid) == before
        process.stdin.write("\n")
        process.stdin.flush()
        while program_of(process.pid) in {before, ""}:  # it has none while it becomes another one
            assert process.poll() is None
        process.stdin.close()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it is a zombie now
        assert program_of(process.pid) == ""
