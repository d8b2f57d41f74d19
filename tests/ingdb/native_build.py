"""Builds the small libraries that the tests of the native stack read; once per test run and set of flags."""

import atexit
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from kit.paths import ROOT

SOURCE = ROOT / "tests/programs/native_functions.cpp"
_folder = Path(tempfile.mkdtemp(prefix="native-build-"))
atexit.register(shutil.rmtree, _folder, ignore_errors=True)


@cache
def library(*flags):
    """The path of the library built with ``flags``."""
    path = _folder / f"{'-'.join(flag.strip('-').replace('/', '_').replace(',', '') for flag in flags) or 'plain'}.so"
    command = ["g++", "-shared", "-fPIC", "-g", "-O0", "-Wl,--build-id", *flags, str(SOURCE), "-o", str(path)]
    subprocess.run(command, check=True, cwd=_folder)
    return path


@cache
def split_library():
    """A stripped library whose symbols and line table lie in a file beside it."""
    path, whole = _folder / "split.so", library()
    debug = _folder / "split.so.debug"
    shutil.copy(whole, path)
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    subprocess.run(["strip", path], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", path], check=True, cwd=_folder)
    return path


def output(*command):
    """What a command prints."""
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def said(*command):
    """What a command prints, whatever its exit status: readelf complains of debug links that lead nowhere."""
    return subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True).stdout


def gdb_runs(path, script, *, program=None, environment=None, timeout=120):
    """Run a Python script in gdb with our modules loaded; gdb's whole output."""
    load = ROOT / "pyharness/ingdb/load.py"
    words = ["gdb", "-nx", "-q", "-batch", "-ex", "set width 0", "-ex", f"source {load}", "-x", str(script)]
    command = [*words, *([str(program)] if program else [])]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=timeout, cwd=path
    )
    return f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
