"""torch's flight recorder read from memory: what is there, and memory that lies."""

import random
import struct

import pytest

from pyharness.reading.collectives.layout import RecorderLayout
from pyharness.reading.collectives.recorder import KEPT, calls, groups
from pyharness.reading.process.memory import Memory, UnreadableError

LAYOUT = RecorderLayout()
START, RECORDER = 0x10000, 0x1000


def entry(address, number, *, name=b"gloo:all_reduce", over=True, message=False):
    """One entry as torch writes it, at ``address``."""
    data = bytearray(LAYOUT.entry_size)

    def word(at, *values):
        struct.pack_into(f"<{len(values)}Q", data, at, *values)

    def text(at, content):
        word(at, address + at + 16, len(content))
        data[at + 16 : at + 16 + len(content)] = content

    text(LAYOUT.group_name, b"default_pg")
    text(LAYOUT.group_name + 32, b"0")
    text(LAYOUT.operation, name)
    word(LAYOUT.sequence, number)
    word(LAYOUT.message_sequence, number + 100)
    word(LAYOUT.created, number * 1_000_000_000)
    word(LAYOUT.timeout, 1_800_000)
    data[LAYOUT.is_message], data[LAYOUT.retired] = message, over
    for at, values in ((LAYOUT.input_ranks, [2]), (LAYOUT.output_ranks, [1]), (LAYOUT.sizes, [4, 8, 3])):
        struct.pack_into("<QII", data, at, address + at + 16, len(values), 8)
        word(at + 16, *values)
    return bytes(data)


def memory(*entries, capacity=2000):
    """A process that has a recorder, and nothing else."""
    raw = bytearray(RECORDER_SIZE)
    struct.pack_into("<QQ", raw, LAYOUT.entries, START, START + LAYOUT.entry_size * len(entries))
    struct.pack_into("<Q", raw, LAYOUT.capacity, capacity)
    return Memory(reader({RECORDER: bytes(raw), START: b"".join(entries)}))


RECORDER_SIZE = 256


def reader(parts):
    def read(address, size):
        for start, data in parts.items():
            if start <= address < start + len(data):
                return data[address - start : address - start + size]
        raise OSError

    return read


def made(count, **last):
    size = LAYOUT.entry_size
    return [entry(START + size * index, index + 1, **(last if index == count - 1 else {})) for index in range(count)]


def test_a_call_is_read_whole():
    found = calls(memory(*made(3, over=False)), RECORDER, LAYOUT)
    last = found[-1].collective
    assert [one.collective.sequence for one in found] == [1, 2, 3]
    assert [one.collective.state for one in found] == ["completed", "completed", "scheduled"]
    assert (last.operation, last.backend, last.inputs, last.outputs) == ("all_reduce", "gloo", ((4, 8),), ((3,),))
    assert (last.created, last.timeout, last.is_message) == (3.0, 1800.0, False)
    assert [(one.name, one.description) for one in groups(found, lambda _at: "x.py:1", {})] == [("0", "default_pg")]


def test_the_last_calls_and_all_that_are_not_over():
    entries = [entry(START + LAYOUT.entry_size * index, index + 1, over=index != 2) for index in range(KEPT + 30)]
    found = [one.collective.sequence for one in calls(memory(*entries), RECORDER, LAYOUT)]
    assert found == [3, *range(31, KEPT + 31)]


def test_messages_are_counted_apart():
    (found,) = calls(memory(*made(1, message=True, name=b"nccl:recv 0<-1")), RECORDER, LAYOUT)
    assert (found.collective.operation, found.collective.sequence) == ("recv 0<-1", 101)


@pytest.mark.parametrize(
    "broken", [memory(*made(2), capacity=1), Memory(reader({RECORDER: bytes(RECORDER_SIZE)[:20]}))]
)
def test_what_is_no_recorder(broken):
    with pytest.raises(UnreadableError):
        calls(broken, RECORDER, LAYOUT)


def test_memory_that_lies():
    """Whatever the bytes are, there is an answer or one error, and soon."""
    chance = random.Random(0)  # noqa: S311  (the same each time)
    for _ in range(1000):
        data = bytearray(b"".join(made(3, over=False)))
        for _ in range(chance.randrange(1, 40)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        found = calls(memory(bytes(data[:512]), bytes(data[512:1024]), bytes(data[1024:])), RECORDER, LAYOUT)
        assert len(groups(found, lambda _at: "", {})) <= 3
