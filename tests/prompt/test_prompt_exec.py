"""``breakpoint()`` in a text that ``exec`` runs stops there, as pdb does: a usual way to read a configuration."""

import re

import pytest

from kit.dialogue import blocks
from kit.interpreters import cases, interpreters

TEXT = "rate = 3\\ndoubled = rate * 2\\nbreakpoint()\\nmore = doubled + 1\\n"


@pytest.mark.parametrize("version", cases())
def test_a_breakpoint_in_a_text(piped, tmp_path, version):
    program = tmp_path / "reads.py"
    program.write_text(f'exec("{TEXT}")\nprint(more)\n')
    python = ("--python", interpreters()[version])
    done = piped(["c", "p doubled", "n", "c"], options=python, program=program, cwd=tmp_path)
    shown = blocks(done.stdout)
    assert "breakpoint · python · <module> · <string>:4" in done.stdout, done.stdout + done.stderr
    assert shown["p doubled"].strip() == "6"
    # From 3.12 on a step comes back to the line of the call.
    assert re.search("step · python · <module> · reads.py:[12]", shown["n"])
    assert "\n7\n" in done.stdout
    assert done.returncode == 0, done.stderr
