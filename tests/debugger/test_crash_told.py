"""What gdb has to say of a call that a signal ended: 13 tells a stop before, 16 and newer the signal in the error."""

import pytest

from pyharness.debugger.native.in_program.ending import crash_told

LATER = """The program being debugged received signal SIGSEGV, Segmentation fault
while in a function called from GDB.  GDB has restored the context
to what it was before the call.  To change this behavior use
"set unwind-on-signal off".  Evaluation of the expression containing
the function (crash(int*)) will be abandoned."""
BEFORE = """The program being debugged was signaled while in a function called from GDB.
GDB has restored the context to what it was before the call.
To change this behavior use "set unwindonsignal off"."""


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (LATER, "was ended by SIGSEGV"),
        (LATER.replace("\n", " "), "was ended by SIGSEGV"),
        (BEFORE, ""),
        ("the function f received signal SIGSEGV, or did it?", ""),
        ("", ""),
    ],
)
def test_the_signal_is_told(error, told):
    assert crash_told(error) == told
