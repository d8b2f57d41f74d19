"""Debuggers that outlived their session: an older version's, or one that was killed in a way that nobody foresaw."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.doctor.machine import machine_checks
from pyharness.doctor.registry import Area
from pyharness.host.loader import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.doctor.machine import Machine
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("left behind")
_PROC = Path("/proc")


@machine_checks.add(AREA, "left-behind")
def debuggers(_machine: Machine) -> Iterator[Diagnosis]:
    """Whether a gdb or an adapter of debugpy runs on although whoever started it is gone."""
    orphans = [pid for pid in _own_processes() if _is_debugger(words_of(pid)) and not _is_heard(pid)]
    if not orphans:
        yield AREA.ok("left-behind", "No debugger outlived its session.")
        return
    numbers = " ".join(map(str, orphans))
    seen = f"Debuggers run on although whoever started them is gone: {numbers}."
    if any("debugpy" in " ".join(words_of(pid)) for pid in orphans):
        seen += " An adapter of debugpy lets every user of this machine in."
    yield AREA.warning("left-behind", seen, f"kill {numbers}")


def _own_processes() -> Iterator[int]:
    for entry in _PROC.iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.geteuid():
                yield int(entry.name)


def _is_debugger(words: list[str]) -> bool:
    """Whether a command line is one that pyharness starts, or has started in an older version."""
    if not words:
        return False
    gdb = Path(words[0]).name.startswith("gdb") and "-nx" in words and "--interpreter=mi3" in words
    return gdb or words[1:3] == ["-m", "debugpy.adapter"]


def _is_heard(pid: int) -> bool:
    """Whether anybody can still say something to it: another process has the other end of its standard input."""
    end = _standard_input(pid)
    return not end.startswith("pipe:") or any(end in _open_files(other) for other in _own_processes() if other != pid)


def _standard_input(pid: int) -> str:
    try:
        return str((_PROC / str(pid) / "fd" / "0").readlink())
    except OSError:
        return ""  # it has ended, or may not be looked at


def _open_files(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for entry in (_PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                yield str(entry.readlink())
