"""What does not exist: one message with the nearest names; status 1 where only the program, which ran, could tell."""

import pytest
from harness_process import STANDS

from kit.paths import PROGRAMS

FX = PROGRAMS / "fault_graph.py"


@pytest.mark.rotated(turns=11)
@pytest.mark.parametrize(
    ("script", "where", "said", "offered"),
    [
        (FX, "fx:frist", "No graph of the program has fx:frist.", "first"),
        (FX, "fx:inner.lnear", "No graph of the program has fx:inner.lnear.", "inner.linear"),
        (STANDS, "native:hled", "No loaded native code has native:hled.", "held"),
        (STANDS, "native:crossing::relased", "No loaded native code has native:crossing::relased.", "released"),
        (STANDS, "native:extnsion.cpp:20", "No loaded native code has native:extnsion.cpp:20.", "extension.cpp"),
        (STANDS, "py:fault_stand.py:3", "There is no file 'fault_stand.py'.", "fault_stands.py"),
        (STANDS, "py:fault_stands.py:999", "after the last line of code", ""),
        (STANDS, "fx:anything", "the program made no torch.fx GraphModule", ""),
        (STANDS, "op:torch.ops.aten.mul.Tensor", "the program made no torch.fx GraphModule", "is op:aten::mul."),
        (FX, "op:aten.gelu", "No graph of the program has op:aten.gelu.", "is op:aten::gelu."),
        (PROGRAMS / "plain_lines.py", "native:held", "No loaded native code has native:held.", "-g"),
        (PROGRAMS / "fault_standz.py", "native:held", "There is no script", "fault_stands.py"),
    ],
)
def test_the_nearest_names_are_offered(pyharness, script, where, said, offered):
    status, errors = pyharness("step", script, "--at", where).end()
    assert status == (2 if where.startswith("py:") or script.name == "fault_standz.py" else 1), errors
    assert errors.startswith("pyharness: ")
    assert said in errors
    assert offered in errors
    assert "Traceback" not in errors
