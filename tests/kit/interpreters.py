"""Interpreters that tests can run, and programs that stop where a `# @mark` says and wait for a line of input."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

from kit import needs, rotation
from kit.paths import PROGRAMS
from pyharness.reading.binaries.elf import ElfError, open_elf
from pyharness.reading.process import memory_map
from pyharness.reading.process.memory import Memory
from pyharness.reading.python.runtime import find_python

NEWEST = (3, 15)
FREE_THREADED = "t"
"""How the name ends of an interpreter without a GIL: its stacks are read, and it is not debugged."""


def interpreters():
    """Version → path, one a version, of those that programs are debugged under."""
    return {name: path for name, path in every_interpreter().items() if not name.endswith(FREE_THREADED)}


def readable():
    """Version → path, of those whose stacks are read."""
    return {name: path for name, path in every_interpreter().items() if name in {*interpreters(), "3.13t"}}


def readable_cases():
    """`readable` as cases of a test that asks every one; the ones without a GIL are left out where there are none."""
    found = [pytest.param(path, id=name) for name, path in sorted(readable().items())]
    missing = pytest.param("", id="3.13t", marks=needs.never("no free-threaded Python 3.13 is here"))
    return found if "3.13t" in readable() else [*found, missing]


@cache
def every_interpreter():
    """The Pythons of `$PYHARNESS_TEST_PYTHONS`, of pyenv, and the distribution's own."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    named = os.environ.get("PYHARNESS_TEST_PYTHONS", "").split(":")
    candidates = [*map(Path, filter(None, named)), *sorted(pyenv.glob("3.*/bin/python3")), Path(sys.executable)]
    candidates += [
        Path(folder, f"python3.{minor}") for folder in ("/usr/bin", "/usr/local/bin") for minor in range(9, 16)
    ]
    found = {}
    for path in candidates:
        version = _version(path)
        if version and (3, 9) <= version[:2] <= NEWEST:
            name = f"{version[0]}.{version[1]}" + ("-distribution" if str(path).startswith("/usr/bin/") else "")
            name += FREE_THREADED if version[2] else ""
            found.setdefault(name, str(path))
    return found


def cases(names=None):
    """The versions as cases of a rotated test: the newest and the tests' own have every turn."""
    names = sorted(interpreters() if names is None else names, key=_numbers)
    if not names:
        return [pytest.param("", marks=needs.never("none of the Pythons that it is about is here"))]
    every = {*(name for name in names if name.endswith(FREE_THREADED)), names[-1], "{}.{}".format(*sys.version_info)}
    return [pytest.param(name, id=name, marks=[rotation.always] if name in every else []) for name in names]


def _numbers(name):
    return tuple(map(int, name.partition("-")[0].rstrip(FREE_THREADED).split(".")))


def _version(path):
    says = "import sys; print(*sys.version_info[:2], int('t' in getattr(sys, 'abiflags', '')))"
    try:
        text = subprocess.run([path, "-c", says], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return tuple(map(int, text.stdout.split()))


@contextmanager
def waiting(python, program, *arguments, environment=None):
    """A program that has printed a JSON line and waits: its process, and what it said."""
    process = subprocess.Popen(
        [python, PROGRAMS / program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    try:
        said = json.loads(process.stdout.readline())
        until_it_reads(said.get("pid", process.pid))
        yield process, said
    finally:
        process.kill()
        process.communicate()


def until_it_reads(pid):
    """Wait until the main thread is in `read(0, ...)`: it has said where it will be just before."""
    deadline = time.monotonic() + 30
    while not Path(f"/proc/{pid}/syscall").read_text().startswith("0 0x0 "):
        assert time.monotonic() < deadline, "the program does not get to its mark"


class Loaded:
    """A mapped file of a process, as `find_python` takes it."""

    def __init__(self, image):
        self.path = image.path
        self.elf = open_elf(image.path)
        self.bias = image.start - self.elf.base


def loaded(pid):
    for image in memory_map.images(memory_map.from_proc(Path(f"/proc/{pid}/maps").read_text())):
        with suppress(ElfError):
            yield Loaded(image)


@contextmanager
def reader(pid):
    """A `read(address, size)` of a process's memory."""
    descriptor = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    try:
        yield lambda address, size: os.pread(descriptor, size, address)
    finally:
        os.close(descriptor)


@contextmanager
def python_of(pid):
    with reader(pid) as read:
        yield find_python(Memory(read), loaded(pid))


def a_newer_python(version: str) -> pytest.MarkDecorator:
    """An interpreter of that version, which is newer than this one."""
    ours = "{}.{}".format(*sys.version_info)
    older = tuple(map(int, ours.split("."))) < tuple(map(int, version.split(".")))
    reason = f"there is no Python {version} that is newer than this one"
    return pytest.mark.skipif(not older or version not in interpreters(), reason=reason)
