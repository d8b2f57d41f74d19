"""Layouts: the tables against headers, what a process says of itself, and a CPython 3.14 built of bytes."""

import struct
from pathlib import Path

import pytest
from python_measure import measure, version_of
from python_synthetic import Synthetic

from kit import needs
from kit.interpreters import interpreters, python_of, readable, waiting
from pyharness.reading.process.memory import Memory
from pyharness.reading.python import free_threaded
from pyharness.reading.python.layout import UnknownPythonError, debug_offsets_layout, table_layout
from pyharness.reading.python.tables import OFFSETS
from pyharness.reading.python.threads import Python


def headers():
    found = {}
    for path in interpreters().values():
        folder = Path(path).resolve().parent.parent / "include"
        for include in folder.glob("python3.*/"):
            if (include / "internal/pycore_frame.h").exists() or (include / "internal/pycore_pystate.h").exists():
                found[version_of(include)[:2]] = include
    return found


@pytest.mark.parametrize("version", sorted(headers()), ids=lambda version: f"{version[0]}.{version[1]}")
def test_tables_are_what_the_headers_say(version):
    measured, table = measure(headers()[version])
    assert measured[:2] == version
    assert table == OFFSETS[version]


NONE = pytest.param("", marks=needs.never("there is no Python 3.13 or newer, which say of themselves"))


@pytest.mark.parametrize(
    "name", [name for name in interpreters() if name.startswith(("3.13", "3.14", "3.15"))] or [NONE]
)
def test_what_the_process_says_agrees_with_the_table(name):
    with waiting(interpreters()[name], "py_frames.py") as (process, said), python_of(said["pid"]) as python:
        assert process.poll() is None
        told = debug_offsets_layout(python.memory.read, python.runtime)
        assert told is not None
        assert dict(told.offsets) == OFFSETS[told.version]


def test_a_free_threaded_python_has_a_table_of_its_own():
    if "3.13t" not in readable():
        needs.skip("no free-threaded Python 3.13 is here")
    with waiting(readable()["3.13t"], "py_frames.py") as (_process, said), python_of(said["pid"]) as python:
        assert python.layout.free_threaded
        assert dict(python.layout.offsets) == free_threaded.OFFSETS[3, 13]
    include = Path(readable()["3.13t"]).resolve().parent.parent / "include" / "python3.13t"
    if include.exists():
        assert measure(include) == (version_of(include), free_threaded.OFFSETS[3, 13])


def test_an_older_python_says_nothing():
    assert debug_offsets_layout(lambda _address, size: bytes(size), 0x1000) is None


def test_a_newer_free_threaded_python_is_refused():
    head = b"xdebugpy" + struct.pack("<QQ", 0x030E00F0, 1)
    with pytest.raises(UnknownPythonError, match=r"3\.14 is a free-threaded build"):
        debug_offsets_layout(lambda _address, size: head[:size], 0x1000)


def test_a_newer_python_is_refused():
    head = b"xdebugpy" + struct.pack("<QQ", 0x031000F0, 0)
    with pytest.raises(UnknownPythonError, match=r"3\.16 is not known"):
        debug_offsets_layout(lambda _address, size: head[:size], 0x1000)
    with pytest.raises(UnknownPythonError, match=r"3\.8"):
        table_layout((3, 8))


def test_impossible_offsets_are_refused():
    head = b"xdebugpy" + struct.pack("<QQ", 0x030E00F0, 0)
    with pytest.raises(UnknownPythonError, match="impossible"):
        debug_offsets_layout(lambda address, size: head if address == 0x1000 else b"\xff" * size, 0x1000)


def test_python_3_14_of_bytes():
    synthetic = Synthetic()
    layout = debug_offsets_layout(synthetic.read, synthetic.runtime)
    assert layout is not None
    assert layout.version == (3, 14)
    python = Python(Memory(synthetic.read), layout, synthetic.runtime)
    assert python.looks_right()
    (thread,) = python.threads()
    assert (thread.native_id, thread.pthread, thread.holds_gil) == (77, 0x7F00, True)
    assert [(loop.marker, [frame.function for frame in loop.frames]) for loop in thread.loops] == [
        (synthetic.entry[1], ["inner", "middle"]),
        (synthetic.entry[0], ["<module>"]),
    ]
    inner = thread.loops[0].frames[0]
    assert (inner.file, inner.line) == ("a.py", 12)
    # one reference with the tag of a deferred count, one small int that the slot holds itself, one that is unset
    assert python.locals(inner) == [("x", "None")]
