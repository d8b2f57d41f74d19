"""Numbers of frames and variables: valid for one stop, and never given twice."""

import pytest

from pyharness.dap.looking.tables import Container, Frames, Variables
from pyharness.debugger.merged_stack import StackFrame
from pyharness.model.errors import HarnessError
from pyharness.model.frames import Frame

FRAME = StackFrame(1, 0, Frame("python", "forward"))


def test_a_frame_of_an_earlier_stop_is_not_taken_for_one_of_this():
    frames = Frames()
    old = frames.add(FRAME)
    assert frames.get(old) is FRAME
    frames.clear()
    new = frames.add(FRAME)
    assert frames.get(new) is FRAME
    with pytest.raises(HarnessError, match=f"no frame {old}"):
        frames.get(old)
    for never in (0, -1, new + 1):
        with pytest.raises(HarnessError, match=f"no frame {never}"):
            frames.get(never)


def test_variables_of_an_earlier_stop_are_not_taken_for_those_of_this():
    variables = Variables()
    old = variables.add(Container("gdb", 7))
    assert variables.add(Container("gdb", 7)) == old
    variables.clear()
    new = variables.add(Container("gdb", 8))
    assert new != old
    assert variables.get(new).handle == 8
    with pytest.raises(HarnessError, match=f"no variables {old}"):
        variables.get(old)
