"""Native functions of libraries of others, which a place names in full, beside the user's own of the same name."""

import subprocess

import pytest

import pyharness
from pyharness.model.errors import HarnessError

OTHERS = """
namespace deep { namespace { int relu(int x) { return x; } } int forward(int x) { return relu(x); } }
extern "C" int relu(int x) { return deep::forward(x); }
"""
OWN = """
namespace own { int relu(int x) { return x + 1; } int forward(int x) { return relu(x); } }
extern "C" int call(int x) { return own::forward(x); }
"""
LINE_BEHIND_THE_LOAD = 5
PLAIN = "int plain = 1;"
OPENS = """
#include <dlfcn.h>
extern "C" int opens(int x) {
    void* others = dlopen("numpy/libothers.so", RTLD_NOW);
    return reinterpret_cast<int (*)(int)>(dlsym(others, "relu"))(x);
}
"""
SCRIPT = """
import ctypes
import sys

others = ctypes.CDLL("./numpy/libothers.so")
if "own" in sys.argv:
    ctypes.CDLL("./libplain.so")
others.relu(1)
if "own" in sys.argv:
    own = ctypes.CDLL("./libown.so")
    others.relu(2)
    own.call(3)
"""

SENDS = """
import ctypes
import socket

ctypes.CDLL("./numpy/libothers.so")
ctypes.CDLL("./numpy/libothers.so")
socket.socketpair()[0].send(b"abc")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a library that counts as one of others, as all of NumPy's do, and two of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "numpy").mkdir()
    for name, source, flag in (("libplain", PLAIN, "-s"), ("numpy/libothers", OTHERS, "-O0"), ("libown", OWN, "-g")):
        (tmp_path / f"{name}.cpp").write_text(source)
        subprocess.run(["c++", flag, "-fPIC", "-shared", "-o", f"{name}.so", f"{name}.cpp"], check=True)
    return tmp_path


@pytest.fixture
def script(folder):
    """A script that loads them."""
    (folder / "script.py").write_text(SCRIPT)
    return str(folder / "script.py")


@pytest.mark.parametrize("name", ["deep::forward", "deep::relu", "::deep::forward(int)"])
def test_one_that_is_named_in_full_is_a_stop_though_nothing_of_the_users_is_loaded(script, name):
    with pyharness.debug(script) as program:
        stop = program.run_to(f"native:{name}")
        assert stop.frame.library.endswith("libothers.so")


@pytest.mark.parametrize("later", [False, True])
def test_one_of_torch_is_a_stop_without_an_extension(tmp_path, monkeypatch, later):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "torchs.py"
    script.write_text("import torch\ntorch.ones(2).relu()\n")
    with pyharness.debug(str(script)) as program:
        if later:
            program.run_to("py:torchs.py:2")
        stop = program.run_to("native:at::native::relu")
        assert stop.frame.function == "at::native::relu"
        assert stop.frame.library.endswith("libtorch_cpu.so")


@pytest.mark.parametrize("name", ["forward", "shallow::forward"])
def test_the_last_part_of_its_name_is_told_with_the_whole(script, name):
    with pyharness.debug(script, crashes=True) as program, pytest.raises(HarnessError) as told:
        program.run_to(f"native:{name}")
    assert told.value.message == f"No loaded native code has native:{name}."
    assert "named in full: libothers.so has, for example, native:deep::forward." in told.value.remedy


def test_the_users_own_is_meant_as_soon_as_it_is_loaded(script):
    """Before, ``relu`` is all of the name of a function in C."""
    with pyharness.debug(script, "own") as program:
        program.set_breakpoint("native:relu")
        stops = []
        while stop := program.resume():
            stops.append(stop.frame.function)
    assert stops == ["relu", "own::relu"]


def test_a_function_of_others_is_not_taken_for_the_users_that_comes_later(script):
    """Though an extension without any such function, which might be the user's, was loaded in between."""
    with pyharness.debug(script, "own") as program:
        stop = program.run_to("native:forward")
        assert stop.frame.function == "own::forward"


@pytest.mark.parametrize("steps", [False, True])
def test_one_of_a_library_that_native_code_opens_is_a_stop(folder, steps):
    """In a step over that code, too."""
    (folder / "opens.cpp").write_text(OPENS)
    subprocess.run(["c++", "-g", "-fPIC", "-shared", "-o", "libopens.so", "opens.cpp", "-ldl"], check=True)
    (folder / "script.py").write_text('import ctypes\n\nlibrary = ctypes.CDLL("./libopens.so")\nlibrary.opens(1)\n')
    with pyharness.debug(str(folder / "script.py")) as program:
        program.run_to("py:script.py:4")
        program.set_breakpoint("native:deep::forward")
        if steps:
            assert program.into().frame.function == "opens"
            assert program.over().frame.line == LINE_BEHIND_THE_LOAD
        assert program.resume().frame.function == "deep::forward"


def test_what_the_debugger_calls_in_the_program_is_no_stop(folder):
    """The debugger tells of each load through a socket; so does the program."""
    (folder / "sends.py").write_text(SENDS)
    with pyharness.debug(str(folder / "sends.py")) as program:
        program.set_breakpoint("native:send")
        stops = []
        while program.resume():
            files = [frame.file or "" for frame in program.stack() if frame.language == "python"]
            stops.append(next(file for file in files if "/python3" not in file or "site-packages" in file))
    assert stops == [str(folder / "sends.py")]
