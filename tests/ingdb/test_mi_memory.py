"""Memory, machine code and modules, as a client sees them."""

import os
import re
import struct
import subprocess
from pathlib import Path

import pytest
from mi_session import SOURCE, Attached, capable, line_of

from pyharness.debugger.native.code import NativeCode
from pyharness.gdbmi.client import GdbError
from pyharness.reading.binaries.elf import open_elf


@pytest.fixture(scope="module")
def program():
    """It stands in ``steps``."""
    with Attached([capable()]) as attached:
        attached.thread = attached.run_to("capable::steps", "s")
        yield attached


@pytest.fixture
def code(program):
    return NativeCode(program.native)


def address_of(program, name):
    return int(program.native.evaluate(program.thread, f"(long)&{name}"))


def pc_of(program):
    return program.native.stack(program.thread)[0].address


def objdump():
    """Address → (bytes, mnemonic) of the whole program, by another disassembler; addresses of the file's own."""
    done = subprocess.run(["objdump", "-d", "-w", capable()], capture_output=True, text=True, check=True)
    rows = re.findall(r"^\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(\S+)", done.stdout, re.MULTILINE)
    return {int(address, 16): (raw.strip(), mnemonic) for address, raw, mnemonic in rows}


def test_instructions_before_and_after_are_those_of_objdump(program, code):
    pc = pc_of(program)
    bias = next(module.start for module in code.modules() if module.path == str(capable()))
    theirs = objdump()
    order = sorted(theirs)
    here = order.index(pc - bias)
    found = code.disassemble(pc, 400, instruction_offset=-150)
    assert [entry.address - bias for entry in found] == order[here - 150 : here + 250]
    assert [entry.bytes for entry in found] == [theirs[address][0] for address in order[here - 150 : here + 250]]
    current = found[150]
    assert current.symbol.startswith("capable::steps+")
    assert (current.file, current.line) == (str(SOURCE), line_of("steps_first"))
    assert any(re.match(r"call\s.*<capable::", entry.text) for entry in found)


@pytest.mark.parametrize("instruction_offset", [0, 3, -2, -5, -7])
def test_a_window_slides_over_the_same_instructions(program, code, instruction_offset):
    pc = pc_of(program)
    wide = code.disassemble(pc, 40, instruction_offset=-10)
    assert code.disassemble(pc, 5, instruction_offset=instruction_offset) == wide[10 + instruction_offset :][:5]


def test_an_offset_in_bytes(program, code):
    first, second = code.disassemble(pc_of(program), 2)
    assert code.disassemble(first.address, 1, offset=second.address - first.address) == (second,)


def test_where_there_is_no_code_there_are_as_many_fillers(code):
    found = code.disassemble(0, 8, instruction_offset=-3)
    assert len(found) == 8
    assert not any(entry.valid for entry in found)
    assert [entry.address for entry in code.disassemble(0x10, 3)] == [0x10, 0x11, 0x12]
    assert [entry.address for entry in code.disassemble(0x10, 2, instruction_offset=3)] == [0x13, 0x14]
    start = min(module.start for module in code.modules())
    found = code.disassemble(start, 12, instruction_offset=-4)
    assert [entry.valid for entry in found[:4]] == [False] * 4
    assert [entry.address for entry in found[:5]] == [start - 4, start - 3, start - 2, start - 1, start]
    assert code.disassemble(start, 0) == ()


def test_fillers_begin_where_the_last_instruction_ends(program, code):
    end = _end_of_code(program.native.pid, pc_of(program))
    found = code.disassemble(end - 3, 8)
    valid = [entry for entry in found if entry.valid]
    addresses = [entry.address for entry in found]
    assert 0 < len(valid) < 4
    last = valid[-1]
    begin = last.address + len(bytes.fromhex(last.bytes))
    assert addresses[len(valid) :] == list(range(begin, begin + len(found) - len(valid)))


def _end_of_code(pid, pc):
    """Where memory ends behind the code at ``pc``."""
    spans = sorted(
        tuple(int(end, 16) for end in line.split()[0].split("-"))
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines()
    )
    end = pc
    for start, stop in spans:
        if start <= end < stop:
            end = stop
    return end


def test_code_of_a_library_that_gdb_has_not_read(code):
    library = next(module for module in code.modules() if module.name.startswith("libstdc++.so"))
    assert (library.user_code, library.symbols) == (False, "skipped: libstdc++ is not yours")
    elf = open_elf(library.path)
    start = library.start - elf.base + elf.symbol("__cxa_throw")
    found = code.disassemble(start, 60, instruction_offset=-20)
    assert all(entry.valid for entry in found)
    assert (found[20].address, found[20].symbol, found[20].file) == (start, "__cxa_throw", "")
    assert found[21].symbol == f"__cxa_throw+{found[21].address - start}"


def test_memory_is_read_and_written(program, code):
    address = address_of(program, "capable::counters")
    assert struct.unpack("<4q", code.read(address, 32).data) == (10, 20, 30, 40)
    assert struct.unpack("<q", code.read(address, 8, offset=16).data) == (30,)
    code.write(address, struct.pack("<q", 33), offset=16)
    assert program.native.evaluate(program.thread, "capable::counters[2]") == "33"
    code.write(address, struct.pack("<q", 30), offset=16)


def test_what_cannot_be_read_is_counted(program, code):
    assert (code.read(0, 16).data, code.read(0, 16).unreadable) == (b"", 16)
    with open(f"/proc/{program.process.pid}/maps", encoding="ascii") as maps:  # noqa: PTH123
        end = next(int(line.split()[0].split("-")[1], 16) for line in maps if "[stack]" in line)
    found = code.read(end - 100, 1000)
    assert (len(found.data), found.unreadable) == (100, 900)
    assert code.read((1 << 64) - 8, 64).unreadable == 64
    with pytest.raises(GdbError, match="nothing was written"):
        code.write(end - 2, b"four")
    assert code.read(end - 2, 2).unreadable == 0


def test_modules_say_what_is_known_of_them(code):
    mine = next(module for module in code.modules() if module.path == str(capable()))
    assert (mine.user_code, mine.symbols, mine.name) == (True, "symbols read", os.path.basename(capable()))  # noqa: PTH119
    notes = subprocess.run(["readelf", "-n", capable()], capture_output=True, text=True, check=True).stdout
    assert f"Build ID: {mine.build_id}" in notes
    assert mine.start < mine.end
    assert mine.symbol_file == str(capable())
    cxx = next(module for module in code.modules() if module.name.startswith("libstdc++.so"))
    assert re.fullmatch(r"6(\.\d+)*", cxx.version)
    assert len({module.id for module in code.modules()}) == len(code.modules())
