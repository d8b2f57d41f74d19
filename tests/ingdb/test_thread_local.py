"""Where a thread-local variable is, from the code of a function that returns its address."""

import struct

import pytest
from own_memory import Made

from pyharness.reading.process.memory import Memory, UnreadableError
from pyharness.reading.process.thread_local import ThreadLocal, address_in_thread, of_accessor

FUNCTION, SLOT = 0x1000, 0x2000
LEA = b"\x48\x8d\x3d"
CALL = b"\xe8" + bytes(4)


def memory(code, module=3, base=0):
    return Memory(Made({FUNCTION: code + bytes(4096), SLOT: struct.pack("<QQ", module, base) + bytes(4096)}))


def lea(at):
    return LEA + struct.pack("<i", SLOT - (FUNCTION + at + 7))


ADD = b"\x48\x05" + struct.pack("<i", 0x25D0)
LEA_RESULT = b"\x48\x8d\x80" + struct.pack("<i", 0x25D0)


@pytest.mark.parametrize(
    ("code", "base"),
    [
        (b"\x48\x83\xec\x08" + lea(4) + CALL + b"\x48\x83\xc4\x08" + ADD + b"\xc3", 0),
        (b"\x48\x83\xec\x08" + lea(4) + CALL + LEA_RESULT + b"\x48\x83\xc4\x08\xc3", 0),
        (b"\x48\x83\xec\x08" + lea(4) + CALL + b"\x48\x83\xc4\x08\xc3", 0x25D0),
    ],
    ids=["local dynamic, add", "local dynamic, lea", "general dynamic"],
)
def test_the_code_of_an_accessor(code, base):
    assert of_accessor(memory(code, base=base), FUNCTION) == ThreadLocal(3, 0x25D0)


def test_other_code_is_refused():
    with pytest.raises(UnreadableError):
        of_accessor(memory(b"\x90" * 96), FUNCTION)


THREAD, VECTOR, BLOCK = 0x10000, 0x20000, 0x30000


def thread(entry, length=8):
    vector = struct.pack("<QQ", length, 0) + bytes(16) * 3 + struct.pack("<QQ", entry, 0) + bytes(4096)
    block = struct.pack("<QQ", THREAD, VECTOR)
    return Memory(Made({THREAD: block + bytes(4096), VECTOR - 16: vector}))


def test_a_block_that_the_thread_has():
    assert address_in_thread(thread(BLOCK), ThreadLocal(3, 0x10), THREAD) == BLOCK + 0x10


@pytest.mark.parametrize("entry", [0, (1 << 64) - 1])
def test_a_block_that_the_thread_has_not_made_yet(entry):
    assert address_in_thread(thread(entry), ThreadLocal(3, 0x10), THREAD) is None


def test_a_vector_too_short_for_the_library():
    assert address_in_thread(thread(BLOCK, length=2), ThreadLocal(3, 0x10), THREAD) is None


@pytest.mark.parametrize("module", [0, 1 << 40])
def test_a_module_number_that_cannot_be(module):
    with pytest.raises(UnreadableError):
        address_in_thread(thread(BLOCK), ThreadLocal(module, 0x10), THREAD)
