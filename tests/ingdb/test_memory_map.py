"""Which files a process has loaded: those that the dynamic linker has mapped piece by piece, not those read as data."""

from pyharness.reading.process.memory_map import Image, from_proc, images

LOADED = """\
7f00a000-7f00b000 r--p 00000000 fe:00 26933   /lib/libown.so
7f00b000-7f00c000 r-xp 00001000 fe:00 26933   /lib/libown.so
7f00c000-7f00d000 rw-p 00002000 fe:00 26933   /lib/libown.so
"""
READ = "7f001000-7f004000 r--s 00000000 fe:00 26933   /lib/libown.so\n"


def test_the_pieces_of_a_library_are_one_image():
    assert images(from_proc(LOADED)) == [
        Image("/lib/libown.so", 0x7F00A000, 0x7F00D000, deleted=False, inode="fe:00 26933")
    ]


def test_a_library_that_is_read_as_a_file_is_not_loaded():
    assert images(from_proc(READ + LOADED)) == images(from_proc(LOADED))


def test_a_path_has_its_newline_and_no_other_character_ends_a_line():
    (found,) = images(from_proc(LOADED.replace("/lib/", "/l\\012i\x0cb/")))
    assert found.path == "/l\ni\x0cb/libown.so"
