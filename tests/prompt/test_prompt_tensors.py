"""Tensors at the prompt whose memory is not there any more: said, and the program is not ended by a look at them."""

from prompt_text import blocks

PROGRAM = """
import os, sys, torch
t = torch.from_file(sys.argv[1], shared=True, size=10000)
t.fill_(2)
os.truncate(sys.argv[1], 0)
print("runs on")
"""


def test_a_mapped_file_that_has_become_shorter(piped, tmp_path):
    program, data = tmp_path / "mapped.py", tmp_path / "data"
    program.write_text(PROGRAM)
    data.write_bytes(bytes(40000))
    commands = ["b 5", "b 6", "c", "tensor t --stats", "c", "nan", "tensor t --stats", "c"]
    done = piped(commands, str(data), program=program)
    assert done.returncode == 0, done.stderr
    shown = blocks(done.stdout, repeated=True)
    before, after = (text for name, text in shown if name == "tensor t --stats")
    assert "mean" in before
    assert "its memory is not there: 40000 bytes" in after
    assert "runs on" in done.stdout
