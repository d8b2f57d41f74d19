"""The first *into*, in an extension with 100,000 functions of its own: from the Python line to the stop in C.

Where to stop of so many is not known beforehand: each run has an empty state folder. The peer is told the function's
name: default gdb, from its start to its stop there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import pyharness
from benchmarks.table import Check, Table, ratio, rows_of
from pyharness.model.errors import HarnessError

PROGRAM = Path(__file__).parent / "programs" / "many_calls.py"
UNITS, EACH = 500, 200
RUNS = 5
LIMIT_MS = 500.0
FIRST, NEXT, PEER = "first into", "next into", "default gdb, told the name"
_FUNCTION = "long f{number}(long x) {{\n  long y = x + {number};\n  return y;\n}}\n"
_MODULE = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
long f99000(long x);
static PyObject* call(PyObject* self, PyObject* argument) {
  return PyLong_FromLong(f99000(PyLong_AsLong(argument)));
}
static PyMethodDef methods[] = {{"call", call, METH_O, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "many", "", -1, methods};
PyMODINIT_FUNC PyInit_many(void) { return PyModule_Create(&module); }
"""


def run(runs: int = RUNS) -> Table:
    """Build the extension, then take the subjects in turns."""
    seconds: dict[str, list[float]] = {FIRST: [], NEXT: [], PEER: []}
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), sysconfig.get_paths()["include"])
        for turn in range(-1, runs):
            first, following = _ours(folder)
            peer = _default_gdb(folder)
            if turn >= 0:
                for name, taken in zip(seconds, (first, following, peer), strict=True):
                    seconds[name].append(taken)
    rows = rows_of(f"{UNITS * EACH:,} functions", seconds)
    checks = (
        Check("median of the first into, ms", next(row.median for row in rows if row.subject == FIRST), LIMIT_MS),
        Check("first into: times faster than default gdb", ratio(seconds, PEER, FIRST), 1.0, at_least=True),
    )
    return Table("into_many", rows, checks)


def build(folder: Path, include: str) -> None:
    """Compile the sources, as in a debug build of many files: gdb reads the debug information of one at a time."""
    for unit in range(UNITS):
        numbers = range(unit * EACH, (unit + 1) * EACH)
        (folder / f"unit{unit}.c").write_text("".join(_FUNCTION.format(number=number) for number in numbers))
    (folder / "many.c").write_text(_MODULE)
    command = [os.environ.get("CC", "cc"), "-g", "-O0", "-fPIC", "-shared", f"-I{include}", "-o", "many.so"]
    subprocess.run([*command, *sorted(path.name for path in folder.glob("*.c"))], cwd=folder, check=True)


def _ours(folder: str) -> tuple[float, float]:
    line = next(i for i, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "# @call" in text)
    with tempfile.TemporaryDirectory() as home:
        os.environ["PYHARNESS_HOME"] = home
        with pyharness.debug(str(PROGRAM), folder, stdout=subprocess.DEVNULL) as program:
            taken = []
            for _ in range(2):
                program.run_to(f"py:{PROGRAM}:{line}")
                started = time.perf_counter()
                stop = program.into()
                taken.append(time.perf_counter() - started)
                if stop is None or stop.frame.function != "call":
                    raise HarnessError(f"A step of the benchmark ended at {stop}, not in the extension.")
                program.out()
    return taken[0], taken[1]


def _default_gdb(folder: str) -> float:
    with subprocess.Popen([sys.executable, PROGRAM, folder], stdout=subprocess.PIPE) as process:
        try:
            if process.stdout is None or process.stdout.readline() != b"ready\n":
                raise HarnessError(f"{PROGRAM} did not start.")
            started = time.perf_counter()
            commands = ("-ex", "tbreak many.c:call", "-ex", "continue")
            gdb = ["gdb", "-nx", "-batch", "-p", str(process.pid), *commands]
            said = subprocess.run(gdb, capture_output=True, text=True, check=False).stdout
            taken = time.perf_counter() - started
        finally:
            process.kill()
    if "Temporary breakpoint 1, call" not in said:
        raise HarnessError(f"gdb did not stop in the extension:\n{said}")
    return taken
