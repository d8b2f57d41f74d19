"""``gdb COMMAND`` at the prompt refuses what goes on or sets stops, by any name that gdb takes for it."""

import pytest

from pyharness.model.errors import UsageError
from pyharness.prompt.commands import escaping


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("watch r", "gdb's watch would stop the program"),
        ("rwa r", "gdb's rwatch would stop the program"),
        ("catch syscall write", "gdb's catch would stop the program"),
        ("with print pretty on -- continue", "gdb's with does another command"),
        ('eval "continue"', "gdb's eval does another command"),
        ("frame apply all continue", "gdb's frame apply does another command"),
        ("faas continue", "gdb's faas does another command"),
        ('interpreter-exec mi "-exec-next"', "gdb's interpreter-exec does another command"),
        ("conti", "gdb's continue would go on behind the prompt's back"),
        ("source own.py", r"Name it in \$PYHARNESS_GDB_SCRIPTS, which gdb reads as it starts"),
        ("whi 1", "gdb's while needs a terminal"),
    ],
)
def test_a_command_that_goes_on_is_refused(typed, said):
    with pytest.raises(UsageError, match=said):
        escaping.gdb(None, typed)


@pytest.mark.parametrize(
    "typed", ["info registers", "inf line", "p/x 3", "x/4xw $sp", "frame function f", "i r", "disassemble"]
)
def test_what_asks_is_not(typed):
    assert escaping.word_of(typed) == typed.split()[0]
