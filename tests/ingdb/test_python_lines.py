"""Line tables decoded here against what each CPython says of its own code objects."""

import json
import subprocess

import pytest

from kit.interpreters import cases, interpreters
from pyharness.reading.python.lines import line_at

# `co_lines` gives (start, end, line) of every range; argparse and asyncio have every kind of statement.
TELL = """
import argparse, asyncio.base_events, json, sys
def codes(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from codes(constant)
found = []
def ranges(code):
    if hasattr(code, "co_lines"):
        return list(code.co_lines())
    import dis
    starts = list(dis.findlinestarts(code))
    ends = [start for start, _ in starts[1:]] + [len(code.co_code)]
    return [(start, end, line) for (start, line), end in zip(starts, ends)]
for module in (argparse, asyncio.base_events):
    with open(module.__file__) as stream:
        for code in codes(compile(stream.read(), module.__file__, "exec")):
            table = code.co_linetable if hasattr(code, "co_lines") else code.co_lnotab
            found.append([code.co_firstlineno, table.hex(), ranges(code)])
json.dump(found, sys.stdout)
"""


@pytest.mark.rotated
@pytest.mark.parametrize("name", cases())
def test_every_instruction_has_the_line_that_python_gives_it(name):
    text = subprocess.run([interpreters()[name], "-c", TELL], capture_output=True, text=True, check=True).stdout
    version = tuple(map(int, name.split("-")[0].split(".")))
    codes = json.loads(text)
    assert len(codes) > 200
    for first, table, ranges in codes:
        raw = bytes.fromhex(table)
        for start, end, line in ranges:
            for offset in {start, end - 2} if end > start else ():
                assert line_at(version, raw, first, offset) == line, (name, first, offset)


@pytest.mark.parametrize("version", [(3, 10), (3, 11), (3, 14)])
def test_a_damaged_table_ends(version):
    for table in (b"", b"\xff", b"\xf0\xff\xff\xff", b"\xe8\x40\x40\x40", b"\0" * 64):
        assert isinstance(line_at(version, table, 10, 1 << 20), int | None)


def test_before_the_first_instruction_it_is_the_first_line():
    assert line_at((3, 11), b"", 7, -2) == 7
