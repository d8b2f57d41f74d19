"""A native place in libraries that come one after the other, that go, and that come again."""

import shutil
import subprocess

import pytest

import pyharness

SOURCE = """int doubled(int value) {
  int result = value * 2;
  return result;
}
"""
TWO = """import ctypes
first = ctypes.CDLL({first!r})
first.doubled(1)
second = ctypes.CDLL({second!r})
second.doubled(2)
first.doubled(3)
"""
AGAIN = """import _ctypes, ctypes
for number in range(1, 4):
    library = ctypes.CDLL({first!r})
    library.doubled(number)
    _ctypes.dlclose(library._handle)
"""


@pytest.fixture
def libraries(tmp_path):
    """Two libraries with one function, of one source file."""
    source = tmp_path / "doubled.c"
    source.write_text(SOURCE)
    made = {name: str(tmp_path / f"{name}.so") for name in ("first", "second")}
    for library in made.values():
        subprocess.run(["cc", "-g", "-O0", "-fPIC", "-shared", "-o", library, str(source)], check=True)
    return made


def logged(script, text, libraries, place):
    script.write_text(text.format(**libraries))
    heard = []
    with pyharness.debug(str(script)) as program:
        program.log(place, "{value}", to=heard.append)
        assert program.resume() is None
    return heard


@pytest.mark.parametrize("place", ["native:doubled", "native:doubled.c:2"])
@pytest.mark.parametrize("text", [TWO, AGAIN], ids=["two", "again"])
def test_each_is_stopped_in(tmp_path, libraries, text, place):
    assert logged(tmp_path / "loads.py", text, libraries, place) == ["1", "2", "3"]


def test_hits_are_counted_together(tmp_path, libraries):
    script = tmp_path / "loads.py"
    script.write_text(TWO.format(**libraries))
    with pyharness.debug(str(script)) as program:
        assert program.run_to("native:doubled hits 2")
        assert program.evaluate("value") == "2"
        assert program.finish() == 0


@pytest.mark.parametrize("name", ["a{1} (b) [c]", "a^b$c*\\d.+?|", 'ünï "q"'])
def test_a_folder_of_any_name(tmp_path, libraries, name):
    """gdb finds libraries by a regular expression."""
    folder = tmp_path / name
    folder.mkdir()
    moved = {each: shutil.copy(library, folder) for each, library in libraries.items()}
    assert logged(tmp_path / "loads.py", TWO, moved, "native:doubled") == ["1", "2", "3"]
