"""gdb: whether it is there and runs, is one that was tried, has a Python of its own and takes our commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.doctor.machine import answered, machine_checks
from pyharness.doctor.registry import Area
from pyharness.doctor.tested import GDB, parsed
from pyharness.gdbmi.client import INSTALL_GDB
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.machine import Gdb, Machine
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("gdb")
_NEWER = "Install a newer one, or name it in $PYHARNESS_GDB."
_PYTHON_SETTINGS = "PYTHONHOME and LD_LIBRARY_PATH reach gdb's own Python, too: unset them and try again."


@machine_checks.add(AREA, "gdb")
def version(machine: Machine) -> Iterator[Diagnosis]:
    """Which gdb is used."""
    try:
        gdb = machine.gdb
    except HarnessError as error:
        yield AREA.failed("gdb", error)
        return
    yield _version(gdb)


def _version(gdb: Gdb) -> Diagnosis:
    number = parsed(gdb.version)
    if not number:
        return AREA.problem("gdb", f"{gdb.path} does not run as gdb: it said {gdb.said!r}.", INSTALL_GDB)
    if GDB.too_old(number):
        return AREA.problem("gdb", f"gdb {gdb.version} ({gdb.path}) is too old: tested with {GDB}.", _NEWER)
    if GDB.untried(number):
        seen = f"gdb {gdb.version} ({gdb.path}) is newer than what was tried: {GDB}."
        return AREA.warning("gdb", seen, "If something fails, try an older one: name it in $PYHARNESS_GDB.")
    return AREA.ok("gdb", f"gdb {gdb.version} ({gdb.path}) is one of those that were tested: {GDB}.")


@machine_checks.add(AREA, "gdb-python")
def python(machine: Machine) -> Iterator[Diagnosis]:
    """Whether gdb has a Python, and our commands load into it."""
    gdb = answered(lambda: machine.gdb)
    try:
        answer = machine.in_gdb
    except HarnessError as error:
        yield _no_python(gdb, error)
        return
    seen = f"gdb's own Python is {answer['python']}"
    if answer["error"]:
        seen = f"{seen}, but our commands do not load into it: {' '.join(answer['error'].split())}"
        yield AREA.problem("gdb-python", seen, f"{_NEWER} gdb must have been built with Python 3.10 or newer.")
    else:
        yield AREA.ok("gdb-python", f"{seen}, and our commands load into it.")


def _no_python(gdb: Gdb, error: HarnessError) -> Diagnosis:
    if "not supported in this copy" in error.message:
        seen = f"{gdb.path} was built without Python: no stack can be merged, no tensor be printed."
        return AREA.problem("gdb-python", seen, "Install a gdb with Python (Debian: `gdb`, not `gdb-minimal`).")
    return AREA.problem("gdb-python", f"gdb's own Python does not start: {error.message}", _PYTHON_SETTINGS)
