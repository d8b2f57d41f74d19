"""Call frame information: every row of real libraries against readelf, and the machine on its own."""

import re

import native_build
import pytest

from kit import needs
from pyharness.reading.binaries.dwarf_cfi import NAMES, CallFrames
from pyharness.reading.binaries.dwarf_expression import ExpressionError, evaluate
from pyharness.reading.binaries.elf import open_elf

pytestmark = pytest.mark.rotated_tests(turns=2)

LIBC = "/lib/x86_64-linux-gnu/libc.so.6"
NUMBERS = {name: number for number, name in NAMES.items()} | {"ra": 16}
ENTRY = re.compile(r"^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)$")
MOST = 3000


def rows_by_readelf(path):
    """(address, CFA, {register: rule}) of every row, as readelf prints them."""
    columns, inside, count = [], False, 0
    for line in native_build.said("readelf", "--debug-dump=frames-interp", "-W", path).splitlines():
        words = re.sub(r" \(\w+\)", "", line).split()  # r1 (rdx)
        if ENTRY.match(line):
            inside, count = True, count + 1
        elif not words or "CIE" in words:
            inside = False
        elif inside and words[0] == "LOC":
            columns = words[2:]
        elif inside and re.fullmatch(r"[0-9a-f]{16}", words[0]):
            yield int(words[0], 16), words[1], dict(zip(columns, words[2:], strict=True))
        if count > MOST:
            return


def as_readelf(rule):
    kind, argument = rule
    if isinstance(argument, bytes):
        return {"saved": "exp", "value": "vexp"}[kind]
    return {"saved": f"c{argument:+d}", "value": f"v{argument:+d}", "register": f"r{argument}", "lost": "u"}[kind]


def differences(path):
    frames, checked = CallFrames(open_elf(str(path))), 0
    last = {}
    for address, cfa, rules in rows_by_readelf(path):
        last[address] = cfa, rules
    for address, (cfa, rules) in last.items():
        row = frames.row(address)
        if row is None:  # the end of the section, or an empty function
            continue
        ours = "exp" if isinstance(row.cfa, bytes) else f"{NAMES[row.cfa[0]]}{row.cfa[1]:+d}"
        told = {name: rule for name, rule in rules.items() if rule not in {"u", "s"}}
        mine = {name: as_readelf(row.rules[number]) for name, number in NUMBERS.items() if number in row.rules}
        mine = {name: rule for name, rule in mine.items() if rule != "u" and name != "rip"}
        checked += 1
        if (ours, mine) != (cfa, told):
            yield f"{address:#x}: {ours} {mine}, readelf has {cfa} {told}"
    assert checked > 10


@pytest.mark.parametrize("path", [LIBC, "/lib64/ld-linux-x86-64.so.2"])
def test_rows_of_the_system_libraries_are_those_of_readelf(path):
    assert list(differences(path)) == []


GOLD = pytest.param(
    ("-fuse-ld=gold",),
    marks=needs.program("ld.gold", "Debian 13 has it in binutils-gold"),
)


@pytest.mark.parametrize("flags", [(), ("-O2",), ("-fcf-protection=full", "-Wl,-z,lazy"), GOLD])
def test_rows_of_our_library_are_those_of_readelf(flags):
    assert list(differences(native_build.library(*flags))) == []


def test_addresses_outside_of_all_functions_have_no_entry():
    frames = CallFrames(open_elf(LIBC))
    assert frames.entry(0) is None
    assert frames.entry(1 << 60) is None
    assert frames.caller(0, {}, lambda _address, _size: b"") is None


def test_the_caller_is_found_from_registers_and_memory():
    elf = open_elf(str(native_build.library()))
    start = elf.symbol("plain_entry")
    stack = {0x7000: 0xAAAA, 0x7008: 0xBBBB}  # saved rbp, return address

    def read(address, size):
        return stack.get(address, 0).to_bytes(size, "little")

    frames = CallFrames(elf)
    at_entry = frames.caller(start, {7: 0x7008, 6: 0xAAAA}, read)
    inside = frames.caller(start + 20, {7: 0x6F00, 6: 0x7000, 3: 5}, read)
    assert (at_entry.cfa, at_entry.pc, at_entry.registers) == (0x7010, 0xBBBB, {6: 0xAAAA, 7: 0x7010})
    assert (inside.cfa, inside.pc, inside.registers[6], inside.registers[7]) == (0x7010, 0xBBBB, 0xAAAA, 0x7010)


def test_a_plt_stub_is_unwound_by_its_expression():
    elf = open_elf(str(native_build.library("-Wl,-z,lazy", "-fcf-protection=none")))
    plt = elf.sections[".plt"]
    stub = plt.address + 16
    frames = CallFrames(elf)
    assert isinstance(frames.row(stub).cfa, bytes)
    memory = {0x100: 0xCCCC, 0x108: 0xCCCC}
    for pc, pushed in ((stub, 0), (stub + 6, 0), (stub + 11, 8)):
        caller = frames.caller(
            pc, {7: 0x100 - pushed + 8, 16: pc}, lambda at, size: memory[at].to_bytes(size, "little")
        )
        assert caller.cfa == 0x110
        assert caller.pc == 0xCCCC


def test_where_the_return_address_is_undefined_the_stack_ends():
    libc = open_elf(LIBC)
    start = libc.symbol("clone")
    frames = CallFrames(libc)
    rows = [frames.row(start + offset) for offset in range(0x80)]
    assert ("lost", 0) in [row.rules.get(16) for row in rows if row]


def code(*parts):
    return bytes(part & 0xFF for part in parts)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (code(0x35, 0x33, 0x1C), 2),  # 5 - 3
        (code(0x33, 0x35, 0x1C), (1 << 64) - 2),
        (code(0x09, -3, 0x11, 0x7E, 0x1E), 6),  # const1s -3, consts -2, mul
        (code(0x77, 0x08), 0x108),  # breg7 8
        (code(0x92, 0x07, 0x10), 0x110),  # bregx 7 16
        (code(0x77, 0x00, 0x06), 0x1234),  # deref
        (code(0x77, 0x00, 0x94, 0x01), 0x34),
        (code(0x31, 0x32, 0x16, 0x1C), 1),  # swap: 2 - 1
        (code(0x31, 0x32, 0x33, 0x17, 0x13), 1),  # rot puts 3 below, drop takes 2
        (code(0x31, 0x32, 0x14), 1),  # over
        (code(0x31, 0x32, 0x15, 0x01), 1),  # pick
        (code(0x38, 0x33, 0x1B), 2),  # 8 / 3
        (code(0x09, -7, 0x32, 0x1B), (1 << 64) - 3),
        (code(0x31, 0x28, 0x01, 0x00, 0x39, 0x32), 2),  # bra over lit9
        (code(0x2F, 0x01, 0x00, 0x39, 0x32), 2),  # skip
        (code(0x30, 0x31, 0x2D), 1),  # 0 < 1
        (code(0x09, -1, 0x30, 0x2D), 1),
        (code(0x0A, 0xFF, 0x01, 0x23, 0x01), 0x200),  # const2u, plus_uconst
    ],
)
def test_expressions(expression, value):
    assert evaluate(expression, {7: 0x100}, lambda _at, size: (0x1234).to_bytes(8, "little")[:size]) == value


@pytest.mark.parametrize("expression", [code(0x2F, -3, -1), code(0x22), code(0xF0), b"", code(0x31, 0x30, 0x1B)])
def test_bad_expressions_are_refused(expression):
    with pytest.raises(ExpressionError):
        evaluate(expression, {}, lambda _at, _size: b"")
