"""Environment variables that get in a debugger's way; each with its reason, and only where the reason holds."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.doctor.machine import machine_checks
from pyharness.doctor.registry import Area
from pyharness.host.visible import entries, is_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.doctor.machine import Machine
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("environment")
_SHADOWING = ("libstdc++.so.6", "libpython3", "libexpat.so.1", "libncursesw.so.6", "libtinfo.so.6")
"""Libraries of gdb's own that a folder of another distribution (conda) replaces."""
_UNSET = "Unset it in this shell; set it for the program alone if it needs it."


@machine_checks.add(AREA, "environment")
def variables(_machine: Machine) -> Iterator[Diagnosis]:
    """What is set now, and gets into the program and into gdb."""
    found = [finding for look in _LOOKS for finding in look(dict(os.environ))]
    yield from found
    if not found:
        yield AREA.ok("environment", "No variable is set that is known to get in a debugger's way.")


def _preload(env: dict[str, str]) -> Iterator[Diagnosis]:
    value = env.get("LD_PRELOAD", "")
    paths = [part for part in value.replace(":", " ").split() if part]
    if any("asan" in Path(path).name or "tsan" in Path(path).name for path in paths):
        seen = (
            f"LD_PRELOAD={value} puts a sanitizer into gdb as well: it may not start, and leaks cannot be looked for."
        )
        yield AREA.warning(
            "LD_PRELOAD", seen, f"{_UNSET} ASAN_OPTIONS=detect_leaks=0: ptrace and it exclude each other."
        )
    elif paths:
        seen = f"LD_PRELOAD={value} is loaded into gdb and its Python as well as into the program."
        yield AREA.warning("LD_PRELOAD", seen, _UNSET)


def _library_path(env: dict[str, str]) -> Iterator[Diagnosis]:
    for folder in filter(None, env.get("LD_LIBRARY_PATH", "").split(":")):
        names = [entry.name for entry in entries(folder)]
        found = sorted(name for name in names if name.startswith(_SHADOWING))
        if found:
            seen = f"LD_LIBRARY_PATH has {folder}, whose {found[0]} gdb then takes instead of the system's."
            yield AREA.warning("LD_LIBRARY_PATH", seen, _UNSET)


def _python_home(env: dict[str, str]) -> Iterator[Diagnosis]:
    if env.get("PYTHONHOME"):
        seen = f"PYTHONHOME={env['PYTHONHOME']} sends gdb's own Python to another Python's standard library."
        yield AREA.warning("PYTHONHOME", seen, _UNSET)


def _python_path(env: dict[str, str]) -> Iterator[Diagnosis]:
    taken = {*sys.stdlib_module_names, "gdb"}
    for folder in filter(None, env.get("PYTHONPATH", "").split(":")):
        found = [entry for entry in entries(folder) if entry.stem in taken and _is_module(entry)]
        if found:
            seen = f"PYTHONPATH has {found[0]}, which gdb's own Python then takes for a module of its own."
            yield AREA.warning("PYTHONPATH", seen, "Rename it, or take the folder out of PYTHONPATH.")


def _is_module(entry: Path) -> bool:
    return entry.suffix == ".py" or is_file(entry / "__init__.py")


def _breakpoint(env: dict[str, str]) -> Iterator[Diagnosis]:
    if env.get("PYTHONBREAKPOINT") == "0":
        yield AREA.warning("PYTHONBREAKPOINT", "PYTHONBREAKPOINT=0 makes breakpoint() do nothing.", _UNSET)


def _no_compile(env: dict[str, str]) -> Iterator[Diagnosis]:
    for name in ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"):
        if env.get(name) == "1":
            seen = f"{name}=1 turns torch.compile off: places in compiled code are never reached."
            yield AREA.warning(name, seen, _UNSET)


def _coverage(env: dict[str, str]) -> Iterator[Diagnosis]:
    if env.get("COVERAGE_PROCESS_START") and sys.version_info < (3, 12):
        seen = "COVERAGE_PROCESS_START has coverage trace the program, and Python before 3.12 has room for one tracer."
        yield AREA.warning("COVERAGE_PROCESS_START", seen, _UNSET)


def _own(env: dict[str, str]) -> Iterator[Diagnosis]:
    for name in ("PYHARNESS_GDB", "PYHARNESS_BUILD", "PYHARNESS_HOME"):
        if env.get(name):
            yield AREA.ok(name, f"{name}={env[name]} is set, and used.")


_LOOKS: tuple[Callable[[dict[str, str]], Iterator[Diagnosis]], ...] = (
    _preload,
    _library_path,
    _python_home,
    _python_path,
    _breakpoint,
    _no_compile,
    _coverage,
    _own,
)
