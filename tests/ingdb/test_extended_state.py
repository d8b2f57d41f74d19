"""gdb calls functions and puts vector registers back, whatever registers the processor has beside them."""

import ctypes
import subprocess

from kit.builds import once
from kit.paths import BUILT, PROGRAMS, ROOT

SOURCE = PROGRAMS / "vector_registers.c"
LIBRARY = ROOT / "pyharness" / "_xstate.abi3.so"


def test_a_call_leaves_the_vector_registers_as_they_were(tmp_path):
    compiler = ["cc", "-g", "-O0", str(SOURCE), "-o"]
    program = once(BUILT / "vector_registers", lambda made: subprocess.run([*compiler, str(made)], check=True))
    script = tmp_path / "script.gdb"
    script.write_text(
        f"source {ROOT}/pyharness/ingdb/load.py\nrun\n"
        "print halved(5.0)\nprint $xmm7.v2_int64[0]\nset $xmm15.v2_int64[0] = 22\ncontinue\n"
    )
    done = subprocess.run(
        ["gdb", "-nx", "-batch", "-x", script, program], capture_output=True, text=True, timeout=60, check=False
    )
    assert "$1 = 2.5" in done.stdout, done.stdout + done.stderr
    assert "$2 = 11" in done.stdout, done.stdout + done.stderr
    assert "exited normally" in done.stdout, done.stdout + done.stderr


def test_a_program_whose_calls_of_ptrace_have_no_slot_is_left_alone():
    assert ctypes.CDLL(str(LIBRARY)).pyharness_write_whole_xstate() == 0
