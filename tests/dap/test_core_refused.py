"""What is no core file, not a whole one, or not of the program that is named: one error each, with the remedy."""

import shutil
import struct
import subprocess
import sys

import core_files
import pytest
from debugging import Debugging

pytestmark = pytest.mark.rotated_tests(turns=5)


_SEGMENT = struct.Struct("<IIQQQQQQ")
NOTES = 4


def refused(dap, path, **arguments):
    client = dap.stdio()
    Debugging(client, core_files.PROGRAM.name).initialize()
    said = client.refused("launch", coreFile=str(path), **arguments)
    assert "No program is being debugged" in client.refused("threads")
    return said.split("\n")


def notes_of(core):
    """Where the notes of a core lie, and how long they are."""
    with core.open("rb") as stream:
        (count,) = struct.unpack_from("<H", stream.read(64), 56)
        table = stream.read(count * _SEGMENT.size)
    return next((row[2], row[5]) for row in _SEGMENT.iter_unpack(table) if row[0] == NOTES)


def with_bytes(core, folder, at, data):
    """A copy with other bytes in it."""
    made = shutil.copyfile(core, folder / "core")
    with made.open("r+b") as stream:
        stream.seek(at)
        stream.write(data)
    return made


@pytest.mark.parametrize("kind", ["missing", "empty", "text", "folder", "executable"])
def test_what_is_no_core_file(dap, tmp_path, kind):
    path = sys.executable if kind == "executable" else tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind in {"empty", "text"}:
        path.write_text("def main(): pass\n" * (kind == "text"))
    message, remedy = refused(dap, path)
    what = {"missing": "cannot be read: No such file", "folder": "is not a file."}.get(kind, "is not a core file.")
    assert f"{path} {what}" in message
    assert "gcore PID" in remedy


def test_a_compressed_one(dap, tmp_path):
    path = tmp_path / "core.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(100))
    message, remedy = refused(dap, path)
    assert message == f"{path} is compressed."
    assert "zstd -d" in remedy


@pytest.mark.rotated
@pytest.mark.parametrize("part", ["header", "table", "half"])
def test_a_part_of_one(dap, crash, tmp_path, part):
    path, size = tmp_path / "core", crash.stat().st_size
    keep = {"header": 40, "table": 200, "half": size // 2}[part]
    with crash.open("rb") as stream:
        path.write_bytes(stream.read(keep))
    message, remedy = refused(dap, path)
    assert f"{path} is damaged or truncated: it has {keep:,} bytes of " in message
    assert (f"pyharness stack {path}" in remedy) == (part != "header")  # nothing can be shown without it


def test_one_of_another_kind_of_machine(dap, crash, tmp_path):
    path = with_bytes(crash, tmp_path, 18, struct.pack("<H", 0xF3))
    message, _ = refused(dap, path)
    assert message == f"{path} is of another kind of machine."


def test_one_whose_threads_are_overwritten(dap, crash, tmp_path):
    at, size = notes_of(crash)
    path = with_bytes(crash, tmp_path, at, bytes(size))
    message, remedy = refused(dap, path)
    assert str(path) in message
    assert remedy.startswith("Make the core again")


@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])
def test_one_of_another_program(dap, crash, tmp_path, kind):
    program = tmp_path / "other"
    subprocess.run(["cc", kind, "-x", "c", "-o", program, "-"], input=b"int main() {}", check=True)
    message, remedy = refused(dap, crash, program=str(program))
    assert message == f"{crash} was not made by {program}."
    assert "Leave `program` out" in remedy
    assert "python" in remedy


def test_a_script_in_place_of_the_program(dap, crash):
    message, remedy = refused(dap, crash, program=str(core_files.PROGRAM))
    assert message == f"{core_files.PROGRAM} is not an executable."
    assert "leave it out" in remedy


@pytest.mark.parametrize("other", [{"module": "pytest"}, {"args": ["x"]}, {"stopOnEntry": True}])
def test_what_would_run_a_program(dap, crash, other):
    message, _ = refused(dap, crash, **other)
    assert "`coreFile` runs nothing" in message
    assert next(iter(other)) in message
