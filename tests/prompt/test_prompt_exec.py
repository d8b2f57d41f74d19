"""``breakpoint()`` in a text that ``exec`` runs stops there, as pdb does: a usual way to read a configuration."""

from kit.dialogue import blocks

TEXT = "rate = 3\\ndoubled = rate * 2\\nbreakpoint()\\nmore = doubled + 1\\n"


def test_a_breakpoint_in_a_text(piped, tmp_path):
    program = tmp_path / "reads.py"
    program.write_text(f'exec("{TEXT}")\nprint(more)\n')
    done = piped(["c", "p doubled", "n", "c"], program=program, cwd=tmp_path)
    shown = blocks(done.stdout)
    assert "breakpoint · python · <module> · <string>:4" in done.stdout, done.stdout + done.stderr
    assert shown["p doubled"].strip() == "6"
    assert "step · python · <module> · reads.py:2" in shown["n"]
    assert "\n7\n" in done.stdout
    assert done.returncode == 0, done.stderr
