"""One wheel for every Python, without torch and without a compiler: it installs, steps into C, and names its limits."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import zipfile
from email.parser import Parser

import pytest

from kit import wheel as wheels
from kit.interpreters import interpreters
from kit.paths import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),  # pip fetches what the package needs
    pytest.mark.rotated_tests(turns=9),
]

LOADED = """
import sys
from pyharness.native.load import load
load("_guard").install_trap_guard()
trap = load("_trap")
trap.begin_memory_limit(1 << 20)
try:
    bytearray(1 << 28)
except MemoryError:
    trap.end_memory_limit()
    print(sys.version_info[:2], trap.__file__)
"""
SPIN = """
#include <Python.h>
static long add_up(long n) {
  long sum = n;
  return sum + 1;  /* @sum */
}
static PyObject* run(PyObject* self, PyObject* arg) { return PyLong_FromLong(add_up(PyLong_AsLong(arg))); }
static PyMethodDef methods[] = {{"run", run, METH_O, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "spin", 0, -1, methods};
PyMODINIT_FUNC PyInit_spin(void) { return PyModule_Create(&module); }
"""
USE = "import spin\n\n\ndef main():\n    return spin.run(3)\n\n\nprint(main())\n"


@pytest.fixture(scope="module")
def made():
    return wheels.wheel()


@pytest.fixture
def bare(tmp_path):
    """The environment of a machine without a compiler."""
    return {**wheels.without_compiler(tmp_path / "bin"), "PYHARNESS_HOME": str(tmp_path / "home")}


def metadata(made):
    archive = zipfile.ZipFile(made)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    return Parser().parsestr(archive.read(name).decode())


@pytest.mark.always
def test_it_is_for_every_python_on_every_linux(made):
    assert re.fullmatch(
        r"pyharness_debugger-[\d.]+-cp310-abi3-manylinux2014_x86_64\.manylinux_2_17_x86_64\.whl", made.name
    )


def test_it_asks_for_no_torch_and_is_not_the_foreign_package(made):
    told = metadata(made)
    needs = [text for text in told.get_all("Requires-Dist") if "extra ==" not in text]
    names = sorted(re.match(r"[\w-]+", text)[0] for text in needs)
    assert names == ["click", "debugpy", "prompt_toolkit", "pygments", "rich", "tomli"]
    assert told["Name"] == "pyharness-debugger"
    assert tuple(map(int, told["Version"].split("."))) > (0, 1, 2)  # the last of the foreign `pyharness`


@pytest.mark.parametrize("python", interpreters().values(), ids=interpreters())
def test_every_python_loads_its_modules(python, tmp_path, bare):
    folder = wheels.unpacked(tmp_path / "there")
    (folder / "loaded.py").write_text(LOADED)
    environment = {**bare, "PYTHONPATH": str(folder)}
    words = [python, folder / "loaded.py"]
    said = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert str(folder / "pyharness" / "_trap.abi3.so") in said.stdout, said.stderr


@pytest.fixture(scope="module")
def environment(made, tmp_path_factory):
    """A fresh environment into which pip has installed the wheel, without a compiler."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    bare = wheels.without_compiler(folder / "bin")
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", made]
    done = subprocess.run(pip, env=bare, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    return python


def test_pip_brings_no_torch(environment):
    listed = json.loads(subprocess.check_output([environment, "-m", "pip", "list", "--format", "json"]))
    names = {each["name"].lower() for each in listed}
    assert {"pyharness-debugger", "debugpy", "click", "rich"} <= names
    assert not {name for name in names if "torch" in name or "nvidia" in name}


def test_a_program_without_torch_is_stepped_into_its_extension(environment, tmp_path, bare):
    source = tmp_path / "spin.c"
    source.write_text(SPIN)
    flags = ["-g", "-O0", "-shared", "-fPIC", f"-I{sysconfig.get_paths()['include']}"]
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    subprocess.run(["cc", *flags, source, "-o", tmp_path / f"spin{suffix}"], check=True)
    (tmp_path / "use.py").write_text(USE)
    words = ["step", "use.py", "--at", "native:add_up", "--stack", "--out", "--json"]
    command = environment.with_name("pyharness")
    done = subprocess.run([command, *words], env=bare, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    inside, outside = json.loads(done.stdout)["stops"]
    assert (inside["language"], inside["function"]) == ("native", "add_up")
    assert ("python", "main") in [(frame["language"], frame["function"]) for frame in inside["stack"]]
    assert (outside["reason"], outside["function"]) == ("step", "run")


def test_versions_name_what_is_missing(environment, bare, tmp_path):
    command = environment.with_name("pyharness")
    said = subprocess.check_output([command, "--version"], env=bare, cwd=tmp_path, text=True)
    assert re.search(r"^engine +needs torch$", said, re.MULTILINE)
    assert re.search(r"^torch +not installed$", said, re.MULTILINE)


def test_what_needs_the_engine_does_not_build_it_without_torch(environment, bare, tmp_path):
    command = environment.with_name("pyharness")
    done = subprocess.run(
        [command, "engine", "build"], env=bare, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "has no torch" in done.stderr


def test_a_clone_without_a_compiler_ends_with_the_remedy(tmp_path, bare):
    """In a few lines: pip shows all that a failed build has printed."""
    words = ["pip", "wheel", "--no-deps", "--no-build-isolation", "--no-cache-dir", "-w", tmp_path / "made", ROOT]
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)], env=bare, capture_output=True, text=True, check=False
    )
    assert done.returncode
    said = (done.stdout + done.stderr).splitlines()
    assert len(said) < 60, "\n".join(said)
    assert "or install a wheel, which needs none" in "\n".join(said[-20:])
