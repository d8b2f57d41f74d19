"""ELF files read by us, against binutils; damaged files."""

import re
import zlib

import native_build
import pytest

from pyharness.reading.binaries import zstd
from pyharness.reading.binaries.elf import Elf, ElfError, open_elf

LIBC = "/lib/x86_64-linux-gnu/libc.so.6"


def symbols_by_nm(path, *options):
    """Function name → address, as nm sees them."""
    listed = re.findall(r"^([0-9a-f]{16}) [TtWwiu] (\S+)$", native_build.output("nm", *options, path), re.MULTILINE)
    return {name.partition("@")[0]: int(address, 16) for address, name in listed}


def test_sections_and_build_id_are_those_of_readelf():
    path = native_build.library()
    elf = open_elf(str(path))
    listed = re.findall(
        r"^\s*\[\s*\d+\] (\.\S+)\s+\S+\s+([0-9a-f]{16}) ([0-9a-f]+) ([0-9a-f]+)",
        native_build.output("readelf", "-SW", path),
        re.MULTILINE,
    )
    assert {name: (int(address, 16), int(offset, 16), int(size, 16)) for name, address, offset, size in listed} == {
        name: (section.address, section.offset, section.size) for name, section in elf.sections.items() if name
    }
    assert f"Build ID: {elf.build_id}" in native_build.output("readelf", "-nW", path)


@pytest.mark.parametrize("flags", [(), ("-Wl,--hash-style=sysv",), ("-Wl,--hash-style=gnu",)])
def test_every_symbol_is_found_by_name(flags):
    path = native_build.library(*flags)
    elf = open_elf(str(path))
    known = symbols_by_nm(path, "--defined-only")
    assert "plain_entry" in known
    assert {name: elf.symbol(name) for name in known} == known
    assert elf.symbol("plain_entr") is None
    assert elf.symbol("") is None


def test_dynamic_symbols_of_a_stripped_library_are_found():
    libc = open_elf(LIBC)
    known = symbols_by_nm(LIBC, "-D", "--defined-only")
    names = [name for name in known if not name.startswith("_")][:300]
    assert len(names) == 300
    assert all(libc.symbol(name) is not None for name in names)
    assert libc.symbol("malloc") == known["malloc"]


def test_functions_are_found_by_their_start_and_by_any_address():
    path = native_build.library()
    (table, _) = open_elf(str(path)).symbol_tables
    for name, address in symbols_by_nm(path, "--defined-only").items():
        found = table.starting_at(address)
        assert found is None or found.address == address
        if found and found.size > 1:
            assert table.containing(address + found.size - 1).address == address, name
    start = symbols_by_nm(path)["plain_entry"]
    assert table.starting_at(start).name == b"plain_entry"
    assert table.starting_at(start + 1) is None
    assert table.containing(1) is None


@pytest.mark.parametrize("how", ["zlib", "zstd"])
def test_compressed_sections_are_read(tmp_path, how):
    path = tmp_path / "packed.so"
    native_build.output("objcopy", f"--compress-debug-sections={how}", native_build.library(), path)
    plain, packed = open_elf(str(native_build.library())), open_elf(str(path))
    assert packed.sections[".debug_line"].size < plain.sections[".debug_line"].size
    assert bytes(packed.section_data(".debug_line")) == bytes(plain.section_data(".debug_line"))
    assert packed.section_data(".nothing") == b""


@pytest.mark.parametrize("how", ["zlib", "zstd"])
def test_a_damaged_one_is_refused(tmp_path, how):
    path = tmp_path / "packed.so"
    native_build.output("objcopy", f"--compress-debug-sections={how}", native_build.library(), path)
    section = Elf(str(path)).sections[".debug_line"]
    whole = path.read_bytes()
    data, size = (section.offset + 24, b"not that"), (section.offset + 8, b"\xff" * 8)
    for start, wrong in (data, size) if how == "zstd" else (data,):  # zlib's says where it ends
        path.write_bytes(whole[:start] + wrong + whole[start + len(wrong) :])
        with pytest.raises(ElfError, match=r"\.debug_line of .* cannot be decompressed"):
            Elf(str(path)).section_data(".debug_line")


def test_without_libzstd_the_remedy_is_said(tmp_path, monkeypatch):
    path = tmp_path / "packed.so"
    native_build.output("objcopy", "--compress-debug-sections=zstd", native_build.library(), path)
    monkeypatch.setattr(zstd, "_LIBRARY", "libnone.so.1")
    zstd._library.cache_clear()
    with pytest.raises(ElfError, match="is compressed with zstd") as refused:
        Elf(str(path)).section_data(".debug_line")
    assert "-gz=zlib" in refused.value.remedy


def test_the_separate_debug_file_is_found_and_must_fit(tmp_path):
    elf = Elf(str(native_build.split_library()))
    assert ".symtab" not in elf.sections
    assert elf.with_section(".debug_line") is elf.debug_file
    assert elf.symbol("_ZL3sumRKSt6vectorIiSaIiEE") is None
    assert elf.symbol("_ZN4shopL3sumERKSt6vectorIiSaIiEE")
    other = tmp_path / "split.so"
    other.write_bytes(native_build.split_library().read_bytes())
    (tmp_path / "split.so.debug").write_bytes(native_build.library("-O1").read_bytes())
    assert Elf(str(other)).debug_file is None


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "cannot read"), (b"\x7fELF", "not a 64-bit"), (b"#!/bin/sh\n" * 20, "not a 64-bit"), (None, "cannot read")],
)
def test_other_files_are_refused(tmp_path, content, said):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ElfError, match=said):
        open_elf(str(path))


def test_a_truncated_file_has_no_sections(tmp_path):
    path = tmp_path / "cut.so"
    path.write_bytes(native_build.library().read_bytes()[:5000])
    elf = open_elf(str(path))
    assert elf.sections == {}
    assert elf.symbol("plain_entry") is None
    assert elf.build_id


def test_legacy_compression_is_read(tmp_path):
    path = tmp_path / "zdebug.so"
    path.write_bytes(native_build.library().read_bytes())
    native_build.output("objcopy", "--compress-debug-sections=zlib-gnu", path)
    elf = open_elf(str(path))
    assert zlib.crc32(elf.section_data(".debug_line")) == zlib.crc32(
        open_elf(str(native_build.library())).section_data(".debug_line")
    )
    assert elf.with_section(".debug_line") is elf
