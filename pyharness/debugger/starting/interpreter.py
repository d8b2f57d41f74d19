"""The interpreter that is to run a program: one that is too old is refused before anything is started."""

from __future__ import annotations

import re
import subprocess

from pyharness.model.errors import UsageError

OLDEST = (3, 9)
"""The oldest CPython in which our half runs."""
_ASKED = "import sys; sys.stdout.write('pyharness asks: %d.%d' % sys.version_info[:2])"
_ANSWER = re.compile(r"pyharness asks: (\d+)\.(\d+)$")
_PATIENCE = 5.0


def check_version(python: str) -> None:
    """``UsageError`` for a Python that is too old; what does not answer may yet be a way to start one."""
    try:
        command = [python, "-S", "-c", _ASKED]
        said = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeError):
        return
    found = _ANSWER.search(said.stdout)
    if found and (version := (int(found[1]), int(found[2]))) < OLDEST:
        raise UsageError(
            f"{python} is Python {version[0]}.{version[1]}: pyharness debugs programs of CPython 3.9 and newer.",
            "Run it under a newer one. `pyharness stack` and `pyharness attach` show the native half of one that runs.",
        )
