"""What tells the program of a process from one that it was before."""

import os
import subprocess
import sys

from pyharness.host.process_state import program_of


def test_another_program_is_told_and_an_end_is_none():
    begins = "import os, sys; print(flush=True); sys.stdin.readline()"
    reads = f"{begins}; os.execv(sys.executable, [sys.executable, '-c', 'input(); input()'])"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", reads], **pipes) as process:
        process.stdout.readline()  # before it begins, it may have none, or another one's
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
