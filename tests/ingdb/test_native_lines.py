"""Line tables against readelf, and the user's functions against where gdb itself would stop in them."""

import json
import os
import re
import subprocess
from pathlib import Path

import native_build
import pytest

from pyharness.ingdb.functions.user_functions import function_at, user_functions
from pyharness.reading.binaries.elf import open_elf
from pyharness.reading.binaries.line_table import line_table

pytestmark = pytest.mark.rotated_tests(turns=5)


HERE = Path(__file__).parent
ROW = re.compile(r"^(\S+)\s+(\d+|-)\s+0x([0-9a-f]+)(.*)$")
FLAGS = [(), ("-gdwarf-4",), ("-gdwarf-3",), ("-gz=zlib",), ("-O2",), ("-gdwarf-5", "-O1")]
ids = [" ".join(flags) or "default" for flags in FLAGS]


def rows_by_readelf(path):
    """(address, file name, line) of every statement row."""
    listed = native_build.said("readelf", "--debug-dump=decodedline", "-W", path)
    for line in listed.splitlines():
        found = ROW.match(line)
        if found and found[4].split()[-1:] == ["x"]:
            yield int(found[3], 16), found[1], int(found[2])


@pytest.mark.parametrize("flags", FLAGS, ids=ids)
def test_rows_are_those_of_readelf(flags):
    path = native_build.library(*flags)
    known = set(rows_by_readelf(path))
    assert len(known) > 50
    ours = set()
    for sequence in line_table(open_elf(str(path))).sequences:
        rows = [sequence.row(index) for index in range(len(sequence.addresses) - 1)]
        ours |= {(row.address, Path(row.file).name, row.line) for row in rows}
    assert {row for row in ours if row[2]} == known


def test_files_are_absolute():
    table = line_table(open_elf(str(native_build.library())))
    names = {name for sequence in table.sequences for name in sequence.names}
    assert str(native_build.SOURCE) in names
    assert all(name.startswith("/") for name in names)


def test_before_dwarf_5_the_folder_is_that_of_the_unit(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "one.c").write_text("int one(int x) { return x + 1; }\n")
    command = ["cc", "-gdwarf-4", "-shared", "-fPIC", "part/one.c", "-o", "one.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    elf = open_elf(str(tmp_path / "one.so"))
    assert [function.file for function in user_functions(elf)] == [str(tmp_path / "part" / "one.c")]
    entry = elf.symbol("one")
    assert function_at(elf, entry).file == str(tmp_path / "part" / "one.c")


def test_the_sequence_of_an_address_is_found():
    elf = open_elf(str(native_build.library()))
    table, start = line_table(elf), elf.symbol("plain_entry")
    sequence = table.sequence_at(start)
    assert sequence.row(sequence.at(start)).line == line_of("plain_entry(int")
    assert table.sequence_at(0) is None
    assert table.sequence_at(1 << 40) is None


def test_a_damaged_table_ends_where_the_damage_is(tmp_path):
    path = tmp_path / "damaged.so"
    data = bytearray(native_build.library().read_bytes())
    section = open_elf(str(native_build.library())).sections[".debug_line"]
    data[section.offset + 10 : section.offset + 60] = b"\xff" * 50
    path.write_bytes(data)
    assert line_table(open_elf(str(path))).sequences == []


def line_of(text):
    lines = native_build.SOURCE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def functions(path, folder):
    answer = folder / "answer.json"
    environment = os.environ | {
        "NATIVE_LIBRARY": str(path),
        "NATIVE_ANSWER": str(answer),
        "PYHARNESS_HOME": str(folder / "home"),
    }
    said = native_build.gdb_runs(folder, HERE / "native_breakpoints.py", environment=environment)
    assert answer.exists(), said
    return json.loads(answer.read_text())


OWN = {
    "shop::Item::Item",
    "shop::Item::cost",
    "shop::Item::operator()",
    "shop::Item::~Item",
    "shop::(anonymous namespace)::hidden",
    "shop::(anonymous namespace)::hidden(shop::Item const&)::{lambda(int)#1}::operator()",
    "shop::doubled<double>",
    "shop::doubled<int>",
    "shop::sum",
    "plain_entry",
    "with_alloca",
}


@pytest.mark.rotated
@pytest.mark.parametrize(
    "flags", [(), ("-gdwarf-4",), ("-O2", "-fno-inline"), ("-fcf-protection=full",), ("-O1", "-fno-omit-frame-pointer")]
)
def test_gdb_would_stop_at_the_same_addresses(tmp_path, flags):
    found = functions(native_build.library(*flags), tmp_path)
    assert {one["name"] for one in found} >= {"plain_entry", "shop::Item::cost", "with_alloca"}
    for one in found:
        assert (one["line"], one["file"]) == (one["gdb"]["line"], one["gdb"]["file"]), one
        if "~" not in one["name"]:  # gdb takes the destructors of one class for one function
            assert one["stop_address"] == one["gdb"]["address"], one


def test_only_functions_that_the_user_wrote_are_found(tmp_path):
    found = functions(native_build.library(), tmp_path)
    assert {one["name"] for one in found} == OWN
    assert {one["file"] for one in found} == {str(native_build.SOURCE)}
    assert len({one["entry"] for one in found}) == len(found)


def test_a_library_with_a_separate_debug_file_is_understood(tmp_path):
    assert {one["name"] for one in functions(native_build.split_library(), tmp_path)} == OWN


def test_a_library_without_debug_information_has_none(tmp_path):
    assert functions(native_build.library("-g0"), tmp_path) == []


def test_the_answer_is_kept_and_a_damaged_one_is_made_anew(tmp_path):
    found = functions(native_build.library(), tmp_path)
    (kept,) = (tmp_path / "home/symbols").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    for damaged in (
        b"",
        b"[]",
        b'{"version": 2}',
        b'{"version": 2, "functions": [["x", 2]]}',
        b"\xff\x00",
        b"[" * 100_000,
    ):
        kept.write_bytes(damaged)
        assert functions(native_build.library(), tmp_path) == found
    changed = json.loads(kept.read_bytes())
    changed["functions"] = changed["functions"][:1]
    kept.write_text(json.dumps(changed))
    assert functions(native_build.library(), tmp_path) == found[:1]
