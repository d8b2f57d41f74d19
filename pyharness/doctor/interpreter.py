"""The interpreter: its version, GIL and build, the one symbol that its stacks are read from; debugpy beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.doctor.machine import answered, machine_checks
from pyharness.doctor.registry import Area
from pyharness.doctor.tested import DEBUGPY, PYTHON, parsed
from pyharness.model.errors import HarnessError
from pyharness.reading.binaries.elf import ElfError, open_elf
from pyharness.reading.python import free_threaded
from pyharness.reading.python.layout import SUPPORTED
from pyharness.reading.python.runtime import RUNTIME
from pyharness.reading.python.tables import OFFSETS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.machine import Machine
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("Python")
_ANOTHER = f"Use CPython {SUPPORTED} with the GIL, a release build."
_HALF = "the Python half of native stacks is missing"


@machine_checks.add(AREA, "python")
def version(machine: Machine) -> Iterator[Diagnosis]:
    """Which interpreter it is."""
    try:
        answer = machine.python
    except HarnessError as error:
        yield AREA.failed("python", error)
        return
    name = f"{answer['implementation']} {answer['version']} ({answer['executable']})"
    number = parsed(answer["version"])
    if answer["implementation"] != "CPython":
        yield AREA.problem("python", f"{name} is not CPython: {_HALF}.", _ANOTHER)
    elif PYTHON.too_old(number):
        yield AREA.problem("python", f"{name} is too old.", _ANOTHER)
    elif number[:2] not in OFFSETS:
        yield AREA.problem("python", f"{name} is newer than what pyharness knows: {_HALF}.", _ANOTHER)
    else:
        yield AREA.ok("python", f"{name} is one of those whose stacks can be read: {SUPPORTED}.")


@machine_checks.add(AREA, "python-build")
def build(machine: Machine) -> Iterator[Diagnosis]:
    """What was chosen when it was built."""
    answer = answered(lambda: machine.python)
    if not answer["gil"]:
        read = parsed(answer["version"])[:2] in free_threaded.OFFSETS
        half = "stacks of its programs can be read, and they cannot be debugged" if read else _HALF
        yield AREA.problem("python-build", f"It is a free-threaded build: {half}.", _ANOTHER)
    elif answer["debug"]:
        seen = "It is a debug build of Python, whose structs are not those that were measured."
        yield AREA.warning("python-build", seen, "If Python frames are missing, use a release build.")
    else:
        yield AREA.ok("python-build", "It is a release build with the GIL.")


@machine_checks.add(AREA, "python-symbols")
def symbols(machine: Machine) -> Iterator[Diagnosis]:
    """Whether its state can be found in memory."""
    yield runtime_symbol(answered(lambda: machine.python)["runtime"])


def runtime_symbol(path: str) -> Diagnosis:
    """Whether the file that holds the interpreter says where its state is; nothing else of it is needed."""
    try:
        there = open_elf(path).symbol(RUNTIME) is not None
    except ElfError as error:
        return AREA.failed("python-symbols", error)
    if there:
        seen = f"{path} says where its state is ({RUNTIME}); neither its debug information nor python-gdb.py is needed."
        return AREA.ok("python-symbols", seen)
    seen = f"{path} does not say where its state is (no symbol {RUNTIME}): {_HALF}."
    return AREA.problem("python-symbols", seen, "Use an interpreter that exports its symbols, as every usual one does.")


DEBUGGER = Area("debugpy")


@machine_checks.add(DEBUGGER, "debugpy")
def debugpy(machine: Machine) -> Iterator[Diagnosis]:
    """Whether debugpy is installed where the program runs."""
    answer, python = answered(lambda: machine.python)["packages"]["debugpy"], machine.wanted.python
    remedy = f"{python} -m pip install 'debugpy>={'.'.join(map(str, DEBUGPY.oldest))}'"
    number = parsed(answer["version"])
    if not answer["file"] and not _is_ours(machine):
        seen = f"debugpy is not installed in {python}: pyharness brings its own into a program that it debugs there."
        yield DEBUGGER.inapplicable("debugpy", seen)
    elif not answer["file"]:
        yield DEBUGGER.problem("debugpy", f"debugpy is not installed in {python}: nothing stops in Python.", remedy)
    elif not number or DEBUGPY.too_old(number):
        seen = f"debugpy {answer['version'] or 'of unknown version'} ({answer['file']}) is older than what was tested."
        yield DEBUGGER.problem("debugpy", seen, remedy)
    elif DEBUGPY.untried(number):
        seen = f"debugpy {answer['version']} is newer than what was tried."
        yield DEBUGGER.warning("debugpy", seen, "If Python stops are missing, install debugpy 1.8.")
    else:
        yield DEBUGGER.ok("debugpy", f"debugpy {answer['version']} is one of those that were tested.")


@machine_checks.add(DEBUGGER, "harness")
def harness(machine: Machine) -> Iterator[Diagnosis]:
    """Whether the program's interpreter has pyharness, and no other project's package of that name beside it."""
    answer, python = answered(lambda: machine.python), machine.wanted.python
    if answer["namesake"]:
        seen = f"Another project's package, pyharness {answer['namesake']}, is installed there, into the same folder."
        ours = f"{python} -m pip install --force-reinstall --no-deps pyharness-debugger"
        yield DEBUGGER.warning("harness", seen, f"{python} -m pip uninstall pyharness && {ours}")
    elif answer["packages"]["pyharness"]["file"]:
        yield DEBUGGER.ok("harness", "pyharness can be imported there.")
    elif not _is_ours(machine):
        seen = f"pyharness is not installed in {python}, and need not be: it brings what a program needs."
        yield DEBUGGER.inapplicable("harness", seen)
    else:
        seen = f"pyharness cannot be imported in {machine.wanted.python}: no program can be started under it there."
        yield DEBUGGER.problem("harness", seen, "Install pyharness in the environment of your program.")


def _is_ours(machine: Machine) -> bool:
    """Whether it is the interpreter that runs us: another one gets our half from here."""
    return Path(machine.wanted.python).absolute() == Path(sys.executable).absolute()
