"""A native place in libraries that come one after the other, that go, and that come again."""

import shutil
import subprocess
from pathlib import Path

import pytest

import pyharness

pytestmark = pytest.mark.rotated_tests(turns=5)


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


@pytest.mark.rotated
@pytest.mark.parametrize("place", ["native:doubled", "native:doubled.c:2"])
@pytest.mark.parametrize("text", [TWO, AGAIN], ids=["two", "again"])
def test_each_is_stopped_in(tmp_path, libraries, text, place):
    assert logged(tmp_path / "loads.py", text, libraries, place) == ["1", "2", "3"]


ENDS = """import ctypes, os
first = ctypes.CDLL({first!r})
for number in range(300):
    first.doubled(number)
os._exit(0)
"""


def test_log_lines_come_before_the_end(tmp_path, libraries):
    """gdb prints them faster than we read, and the program's end comes by another way."""
    assert logged(tmp_path / "ends.py", ENDS, libraries, "native:doubled") == [str(each) for each in range(300)]


def test_hits_are_counted_together(tmp_path, libraries):
    script = tmp_path / "loads.py"
    script.write_text(TWO.format(**libraries))
    with pyharness.debug(str(script)) as program:
        assert program.run_to("native:doubled hits 2")
        assert program.evaluate("value") == "2"
        assert program.finish() == 0


@pytest.mark.parametrize("whole", [True, False], ids=["whole path", "end of it"])
def test_a_file_that_has_a_shorter_namesake_in_a_library_before_it(tmp_path, whole):
    made = {}
    for name, lines_before in (("first", 0), ("second", 40)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "doubled.c").write_text("\n" * lines_before + SOURCE)
        made[name] = str(folder / "lib.so")
        command = ["cc", "-g", "-O0", "-fPIC", "-shared", "-o", made[name], str(folder / "doubled.c")]
        subprocess.run(command, check=True)
    file = f"{tmp_path}/second/doubled.c" if whole else "second/doubled.c"
    assert logged(tmp_path / "loads.py", TWO, made, f"native:{file}:42") == ["2"]


@pytest.mark.rotated
@pytest.mark.parametrize("name", ["a{1} (b) [c]", "a^b$c*\\d.+?|", 'ünï "q"'])
def test_a_folder_of_any_name(tmp_path, libraries, name):
    """gdb finds libraries by a regular expression."""
    folder = tmp_path / name
    folder.mkdir()
    moved = {each: shutil.copy(library, folder) for each, library in libraries.items()}
    assert logged(tmp_path / "loads.py", TWO, moved, "native:doubled") == ["1", "2", "3"]


LOADER = """#include <dlfcn.h>
#include <pthread.h>
static void *call(void *path) {
  void *library = dlopen(path, RTLD_NOW);
  ((int (*)(int))dlsym(library, "doubled"))(1);
  dlclose(library);
  return 0;
}
void call_here(char *path) {
  call(path);
}
void call_on_a_thread(char *path) {
  pthread_t thread;
  pthread_create(&thread, 0, call, path);
  pthread_join(thread, 0);
}
"""
LOADS = """import ctypes
loader = ctypes.{how}({loader!r})
for _ in range(2):
    loader.{function}({first!r}.encode())
print("loaded")
"""


@pytest.fixture
def loader(tmp_path):
    """A library whose functions load another one, which Python hears nothing of."""
    (tmp_path / "loader.c").write_text(LOADER)
    library = str(tmp_path / "loader.so")
    command = ["cc", "-g", "-O0", "-fPIC", "-shared", "-pthread", "-o", library, str(tmp_path / "loader.c"), "-ldl"]
    subprocess.run(command, check=True)
    return library


@pytest.mark.rotated
@pytest.mark.parametrize("how", ["CDLL", "PyDLL"])
@pytest.mark.parametrize("function", ["call_here", "call_on_a_thread"])
@pytest.mark.parametrize("place", ["native:doubled", "native:doubled.c:2"])
def test_one_that_native_code_loads(tmp_path, libraries, loader, function, how, place):
    text = LOADS.replace("{how}", how).replace("{function}", function).replace("{loader!r}", repr(loader))
    assert logged(tmp_path / "loads.py", text, libraries, place) == ["1", "1"]


def test_a_step_over_what_loads_one_ends_behind_it(tmp_path, libraries, loader):
    script = tmp_path / "loads.py"
    text = LOADS.replace("{how}", "CDLL").replace("{function}", "call_here").replace("{loader!r}", repr(loader))
    script.write_text(text.format(**libraries))
    with pyharness.debug(str(script)) as program:
        assert program.run_to("native:call").frame.function == "call"
        assert program.over().frame.line == 5
        assert program.evaluate("library != 0") == "1"
        assert program.out().frame.function == "call_here"
        assert program.finish() == 0


def test_a_step_into_what_a_step_has_loaded_has_its_lines_and_one_out_of_its_end_goes_on(tmp_path, libraries, loader):
    """A library goes while traps lie in it: it takes them along."""
    script = tmp_path / "loads.py"
    text = LOADS.replace("{how}", "CDLL").replace("{function}", "call_here").replace("{loader!r}", repr(loader))
    script.write_text(text.format(**libraries))
    with pyharness.debug(str(script)) as program:
        program.run_to("native:call")
        program.over()
        stop = program.into()
        assert (stop.frame.function, Path(stop.frame.file).name, stop.frame.line) == ("doubled", "doubled.c", 2)
        assert program.out().frame.line == 6  # dlclose()
        assert program.into().frame.line == 7
        assert program.into().frame.line == 8
        assert program.out().frame.function == "call_here"
        assert program.finish() == 0


def test_what_a_library_does_as_it_is_loaded(tmp_path, libraries):
    source = tmp_path / "early.c"
    source.write_text("int ready;\n__attribute__((constructor)) void early(void) {\n  ready = 1;\n}\n")
    subprocess.run(["cc", "-g", "-O0", "-fPIC", "-shared", "-o", tmp_path / "early.so", source], check=True)
    script = tmp_path / "loads.py"
    script.write_text(
        f"import ctypes\nctypes.CDLL({libraries['first']!r})\nctypes.CDLL({str(tmp_path / 'early.so')!r})\n"
    )
    with pyharness.debug(str(script)) as program:
        assert program.run_to("native:early").frame.function == "early"
        assert program.finish() == 0
