"""Core files: whether a crash leaves one, and where."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.doctor.machine import machine_checks
from pyharness.doctor.registry import Area
from pyharness.doctor.system.tracing_rules import tracing_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.machine import Machine
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("core files")
_PATTERN = Path("/proc/sys/kernel/core_pattern")
_SYSTEMD = "`coredumpctl dump PID -o FILE` gives it, and `pyharness stack FILE` shows it."
_SET = "`sudo sysctl -w kernel.core_pattern=core.%p` has the kernel write them itself."


@machine_checks.add(AREA, "core-limit")
def limit(_machine: Machine) -> Iterator[Diagnosis]:
    """``ulimit -c``; a pattern that is a program is not bound by it, except by a limit of 0 of some."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if soft == resource.RLIM_INFINITY:
        yield AREA.ok("core-limit", "The size of core files is not limited.")
        return
    allowed = hard == resource.RLIM_INFINITY
    remedy = "`ulimit -c unlimited` before the program." if allowed else "Ask an administrator: the hard limit is set."
    size = "A crash leaves no core file" if soft == 0 else f"A core file is cut at {soft:,} bytes"
    seen = f"{size} (`ulimit -c`); under pyharness a crash is a stop all the same."
    yield AREA.warning("core-limit", seen, remedy)


@machine_checks.add(AREA, "core-pattern")
def pattern(_machine: Machine) -> Iterator[Diagnosis]:
    """``kernel.core_pattern``."""
    yield where_to(_PATTERN.read_text(encoding="utf-8").strip(), container=tracing_rules().container)


def where_to(text: str, *, container: bool) -> Diagnosis:
    """What a pattern means for whoever wants the core file."""
    if text.startswith("|"):
        program = Path(text[1:].partition(" ")[0]).name
        if container:
            seen = f"Core files go to {program!r} on the container's host, not into the container."
            return AREA.warning("core-pattern", seen, f"On the host: {_SET}")
        if "systemd-coredump" in program:
            return AREA.ok("core-pattern", f"Core files go to {program}: {_SYSTEMD}")
        return AREA.warning("core-pattern", f"Core files go to the program {program!r}, which may drop them.", _SET)
    folder = Path(text).parent
    if not text.startswith("/"):
        return AREA.ok("core-pattern", f"Core files are written to the program's current folder as {text!r}.")
    if "%" not in str(folder) and not os.access(folder, os.W_OK | os.X_OK):
        seen = f"Core files go to {folder}, which is not there or cannot be written to."
        return AREA.warning("core-pattern", seen, f"Make that folder, or: {_SET}")
    return AREA.ok("core-pattern", f"Core files are written to {text}.")
