"""The launch attribute ``overwritten``: a write into a tensor that autograd saved is a stop, and then done."""

from debugging import Debugging

from kit.builds import library
from kit.marks import line_of
from kit.paths import PROGRAMS

SOURCE = PROGRAMS / "overwriting.cpp"


def test_an_editor_stops_at_the_write(dap):
    program = Debugging(dap.stdio(), "overwrites.py")
    program.launch(args=[str(library(SOURCE)), "native"], overwritten=True)
    there = program.stood()
    assert there.reason == "exception"
    assert (there.function, there.line) == ("twice", line_of("twice", SOURCE))
    assert program.evaluate("values[i]", there.frame) == "3"
    there = program.over(program.over(there))
    assert program.evaluate("values[0]", there.frame) == "6"
    assert program.run_out(there) == 0
    program.leave()
