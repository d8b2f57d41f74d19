"""Which code is the user's own: all but torch, CUDA, pybind11, nanobind, the standard libraries and the debugger.

Whoever debugs one of those says so by patterns (``--include``). They reach gdb and the program in the environment.
"""

from __future__ import annotations

import fnmatch
import os
import re
import sysconfig
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_VARIABLE = "PYHARNESS_INCLUDE"
_FROM_OUTSIDE = os.environ.get(_VARIABLE, "")
_LIBRARY_SOURCE = re.compile(
    r"""(^/usr/(include|lib|src|local/cuda[^/]*)/ | /torch/include/ | /site-packages/nvidia/
       | /(pybind11|nanobind)/ | /include/python3 | /python3\.\d+/Python/
       | ^/(opt/rh|croot|build/python|pytorch)/ | /(aten/src|torch/csrc|c10)/ | ^\.\./sysdeps/ | /sysdeps/
       | ^\./(nptl|csu|elf|io|stdlib|malloc)/ )""",
    re.VERBOSE,
)
_LIBRARY_BINARY = re.compile(
    r"""(^(/usr)?/lib(32|64)?/ | /torch/lib/ | /torch/_C\b | /lib-dynload/ | /libpython3 | ^\[ | /numpy(\.libs)?/
       | /debugpy/ | /\.nv/ | ^/usr/local/cuda | /(site|dist)-packages/(nvidia|triton)/ | /libnccl\.so
       | /bin/python[\d.]*$ | /pyharness/_(trap|guard|engine)\. )""",
    re.VERBOSE,
)
_LIBRARY_PYTHON = re.compile(
    r"/(site|dist)-packages/(torch|functorch|torchgen|debugpy|pyharness|_distutils_hack)/|^<|/pyharness/(debuggee|fx|model|native)/"
)


def include(patterns: Iterable[str]) -> None:
    """Count as the user's what lies where one of these globs says, here and in processes that are started from here.

    ``*`` matches slashes, too. A library's code needs two things included: its sources, and its binary.
    """
    # What an earlier program of this process was debugged with is over; what we were started with holds.
    os.environ[_VARIABLE] = os.pathsep.join(filter(None, [_FROM_OUTSIDE, *patterns]))


def included() -> list[str]:
    """The patterns that hold in this process."""
    return [pattern for pattern in os.environ.get(_VARIABLE, "").split(os.pathsep) if pattern]


def _is_included(path: str | None) -> bool:
    patterns = included()
    return bool(path and patterns) and any(fnmatch.fnmatchcase(path or "", pattern) for pattern in patterns)


def is_user_source(path: str | None) -> bool:
    """Whether a C or C++ source file is the user's: not torch's, a binding's or the standard library's."""
    return bool(path) and (not _LIBRARY_SOURCE.search(path or "") or _is_included(path))


def is_user_binary(path: str | None) -> bool:
    """Whether a shared library can be the user's: not the system's, torch's, CUDA's, Python's or NumPy's."""
    return bool(path) and (not _LIBRARY_BINARY.search(path or "") or _is_included(path))


def is_user_python(path: str | None, stdlib: str = "") -> bool:
    """Whether a Python file is the user's: not torch's, the standard library's or the debugger's.

    ``stdlib`` is the debuggee's standard library folder (this interpreter's when empty).
    """
    if not path or _LIBRARY_PYTHON.search(path):
        return _is_included(path)
    stdlib = stdlib or sysconfig.get_paths()["stdlib"]
    return not path.startswith(stdlib.rstrip("/") + "/") or "/site-packages/" in path
