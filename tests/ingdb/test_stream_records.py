"""What gdb's commands print, as gdb 18 returns it under MI and as others do."""

import pytest

from kit.paths import ROOT
from pyharness.ingdb.stream_records import plain

RECORDED = [
    ('~"my::foo(int)\\n"\n', "my::foo(int)\n"),
    ('~"start it is \\"\\".\\n"\n', 'start it is "".\n'),
    (
        '~"SIGINT        Yes\\tYes\\tNo\\t\\tInterrupt\\n"\n~"second\\n"\n',
        "SIGINT        Yes\tYes\tNo\t\tInterrupt\nsecond\n",
    ),
    ('=cmd-param-changed,param="confirm",value="off"\n', ""),
    ('~"caf\\303\\251 \\\\n\\n"\n', "café \\n\n"),
    ('~""\n', ""),
]
MANY = f"{'=' * 60}\nx\n"
"""A text that could be cut into records in 2 ** 60 ways, and none is right."""
PLAIN = ["", "my::foo(int)\n", "~Guard\n", '~"half\n', '"quoted"\n', '~"one\\n"\nand another\n', "=5\nx\n", MANY]


@pytest.mark.parametrize(("printed", "text"), RECORDED)
def test_records_are_read(printed, text):
    assert plain(printed) == text


@pytest.mark.parametrize("printed", PLAIN)
def test_other_text_stays_as_it_is(printed):
    assert plain(printed) == printed


def test_nobody_asks_gdb_beside_that():
    asking = [file for file in (ROOT / "pyharness/ingdb").rglob("*.py") if "to_string=True" in file.read_text()]
    assert {file.name for file in asking} == {"console.py", "checkup.py"}  # which runs alone, without MI
