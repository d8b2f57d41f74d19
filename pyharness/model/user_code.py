"""Which code is the user's own: all but torch, CUDA, bindings, the standard libraries, fetched crates, the debugger.

Whoever debugs one of those says so by patterns (``--include``). They reach gdb and the program in the environment.
"""

from __future__ import annotations

import fnmatch
import os
import re
import sysconfig
from functools import lru_cache
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError
from pyharness.model.frozen import frozen
from pyharness.model.glue import is_written_by_swig

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.model.frames import Frame

_VARIABLE = "PYHARNESS_INCLUDE"
_FROM_OUTSIDE = os.environ.get(_VARIABLE, "")
_LIBRARY_SOURCE = re.compile(
    r"""(^/usr/(include|lib|src|local/cuda[^/]*)/ | /torch/include/ | /site-packages/nvidia/
       | /(pybind11|nanobind)/ | /include/python3 | /python3\.\d+/Python/
       | /lib(32|64)?/(gcc|clang)/.*/include/
       | ^/(opt/rh|croot|build/python|pytorch)/ | /(aten/src|torch/csrc|c10)/ | ^\.\./sysdeps/ | /sysdeps/
       | ^\./(nptl|csu|elf|io|stdlib|malloc)/
       | /Eigen/(src|CXX11)/ | /include/(boost|opencv\d?|xtensor|xtl)/
       | ^/rust(c|/deps)/ | /rustlib/src/ | /cargo/registry/ | /\.cargo/(registry|git)/ | /registry/src/\w+\.\w+)""",
    re.VERBOSE,
)
_LIBRARY_BINARY = re.compile(
    r"""(^(/usr)?/lib(32|64)?/ | /torch/lib/ | /torch/_C\b | /lib-dynload/ | /libpython3 | ^\[ | /numpy(\.libs)?/
       | /debugpy/ | /\.nv/ | ^/usr/local/cuda | /(site|dist)-packages/(nvidia|triton|cuda)/ | /libnccl\.so
       | /_cffi_backend\. | /greenlet/_greenlet\. | /markupsafe/_speedups\.
       | /bin/python[\d.]*[dmt]*$ | /pyharness/_(trap|guard|engine)\. )""",
    re.VERBOSE,
)
_PYTHONS_BINARY = re.compile(
    r"""(^(/usr)?/lib(32|64)?/ | /lib-dynload/ | /libpython3 | ^\[ | /debugpy/ | /bin/python[\d.]*[dmt]*$
       | /pyharness/_(trap|guard|engine)\. )""",
    re.VERBOSE,
)
_LIBRARY_PYTHON = re.compile(
    r"/(site|dist)-packages/((torch|functorch|torchgen|triton|debugpy|pyharness|_distutils_hack|cffi)/|typing_extensions\.py$)"
    r"|^<(?!i?python-input-)|/(site|user)customize\.py$|/pyharness/(debuggee|fx|model|native|protocol|pytest_plugin)/"
)

STANDARD_LIBRARY = re.compile(r"/lib(64)?/python3\.\d+/(?!(site|dist)-packages/)")


@frozen
class UserCode:
    """What counts as the user's code in one program."""

    patterns: tuple[str, ...] = ()
    """Globs of library code that counts as theirs, too; ``*`` matches slashes. A library needs two: sources, binary."""

    @classmethod
    def of(cls, patterns: Iterable[str]) -> UserCode:
        """The rule with these patterns, and with those that this process was started with."""
        known = tuple(dict.fromkeys([*_split(_FROM_OUTSIDE), *patterns]))
        if any("\0" in pattern for pattern in known):
            raise UsageError("A pattern of code to include has a null character, which no path has.")
        return cls(known)

    @property
    def environment(self) -> dict[str, str]:
        """What tells a process that is started, gdb, the same."""
        return {_VARIABLE: os.pathsep.join(self.patterns)}

    def has_source(self, path: str | None) -> bool:
        """Whether a C or C++ source file is the user's: not torch's, a binding's or the standard library's."""
        return bool(path) and (not _LIBRARY_SOURCE.search(path or "") or self._includes(path))

    def has_binary(self, path: str | None) -> bool:
        """Whether a shared library can be the user's: not a system's, or of torch, CUDA, Python, NumPy or greenlet."""
        return bool(path) and (not _LIBRARY_BINARY.search(path or "") or self._includes(path))

    def has_python(self, path: str | None, stdlib: str = "") -> bool:
        """Whether a Python file is the user's: not torch's, the standard library's or the debugger's.

        ``stdlib`` is the debuggee's standard library folder (this interpreter's when empty).
        """
        if not path or _LIBRARY_PYTHON.search(path):
            return self._includes(path)
        stdlib = stdlib or sysconfig.get_paths()["stdlib"]
        if path.startswith(stdlib.rstrip("/") + "/") and "/site-packages/" not in path:
            return False
        return not is_written_by_swig(path)

    def _includes(self, path: str | None) -> bool:
        return path is not None and any(fnmatch.fnmatchcase(path, pattern) for pattern in self.patterns)


def include(patterns: Iterable[str]) -> None:
    """Count as the user's what lies where one of these globs says, in this process: it is one program, or its gdb.

    Processes that it starts have it so, too. What an earlier debugger of it included is over.
    """
    found = UserCode.of(patterns).environment[_VARIABLE]
    if found:
        os.environ[_VARIABLE] = found
    else:
        os.environ.pop(_VARIABLE, None)


def included() -> tuple[str, ...]:
    """The patterns that hold in this process."""
    return _split(os.environ.get(_VARIABLE, ""))


def is_user_source(path: str | None) -> bool:
    """Whether a C or C++ source file is the user's, in the one program of this process."""
    return _here(os.environ.get(_VARIABLE, "")).has_source(path)


def is_user_binary(path: str | None) -> bool:
    """Whether a shared library can be the user's, in the one program of this process."""
    return _here(os.environ.get(_VARIABLE, "")).has_binary(path)


def is_added_binary(path: str) -> bool:
    """Whether a shared library came to Python from elsewhere, as torch's did: not the system's, nor the debugger's."""
    return not _PYTHONS_BINARY.search(path)


def is_user_python(path: str | None, stdlib: str = "") -> bool:
    """Whether a Python file is the user's, in the one program of this process; ``stdlib`` as for ``UserCode``."""
    return _here(os.environ.get(_VARIABLE, "")).has_python(path, stdlib)


@lru_cache(maxsize=8)
def _here(text: str) -> UserCode:
    return UserCode(_split(text))


def _split(text: str) -> tuple[str, ...]:
    return tuple(pattern for pattern in text.split(os.pathsep) if pattern)


def is_users_frame(frame: Frame) -> bool:
    """Whether a frame runs a line of the user's, and none of the standard library of whichever Python that is."""
    if frame.language == "python":
        return _is_users_python(frame.file)
    return not frame.plumbing and is_user_source(frame.file)


@lru_cache(maxsize=4096)
def _is_users_python(file: str | None) -> bool:
    return is_user_python(file) and not STANDARD_LIBRARY.search(file or "")
