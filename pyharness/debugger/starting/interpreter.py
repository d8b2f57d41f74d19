"""The interpreter that is to run a program: one that cannot be debugged is refused before anything is started."""

from __future__ import annotations

import re
import subprocess

from pyharness.model.errors import UsageError
from pyharness.reading.python import free_threaded

OLDEST = (3, 9)
"""The oldest CPython in which our half runs."""
_NATIVE_HALF = "`pyharness stack` and `pyharness attach` show the native half of one that runs."
_STACKS = "`pyharness stack` and `pyharness attach` show the stacks of one that runs."
_ASKED = (  # any Python can read it
    "import sys; sys.stdout.write('pyharness asks: %d.%d' % sys.version_info[:2] + getattr(sys, 'abiflags', '')"
    " + ' ' + getattr(getattr(sys, 'implementation', None), 'name', ''))\n"
    "try: import _ctypes\n"
    "except ImportError: sys.stdout.write(' without _ctypes')"
)
_ANSWER = re.compile(r"pyharness asks: (\d+)\.(\d+)(\w*) ?(\w*)( without _ctypes)?$")
_PATIENCE = 5.0


def check_version(python: str) -> tuple[int, int] | None:
    """The version of an interpreter; ``None`` of what does not answer, which may yet start one.

    ``UsageError`` for a Python that no debugger of ours works in.
    """
    try:
        command = [python, "-S", "-c", _ASKED]
        said = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        raise UsageError(
            f"{python} cannot be started: {error.strerror}.",
            "Is it for this machine, and is there what its first line (#!) names? Name the executable of a Python.",
        ) from error
    except (subprocess.TimeoutExpired, UnicodeError):
        return None
    found = _ANSWER.search(said.stdout)
    if not found:
        return None
    version, flags, name = (int(found[1]), int(found[2])), found[3], found[4]
    if version < OLDEST:
        raise UsageError(
            f"{python} is Python {version[0]}.{version[1]}: pyharness debugs programs of CPython 3.9 and newer.",
            f"Run it under a newer one. {_NATIVE_HALF}",
        )
    if name not in {"", "cpython"}:
        raise UsageError(
            f"{python} is {name}, not CPython: pyharness debugs programs of CPython.",
            f"Run it under CPython. {_NATIVE_HALF}",
        )
    if "t" in flags:
        read = version in free_threaded.OFFSETS
        raise UsageError(
            f"{python} is a free-threaded build: pyharness debugs programs of CPython with the GIL.",
            f"Run it under python{version[0]}.{version[1]}, without the t. {_STACKS if read else _NATIVE_HALF}",
        )
    if found[5]:
        raise UsageError(
            f"{python} cannot load _ctypes: pyharness calls C functions by it in the program.",
            f"Build that Python with libffi (Debian: libffi-dev) and shared modules, or take another one. {_STACKS}",
        )
    return version
