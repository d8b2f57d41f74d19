"""Which code is the user's own: everything but torch, pybind11, the standard libraries and the debugger itself."""

from __future__ import annotations

import re
import sysconfig

_LIBRARY_SOURCE = re.compile(
    r"""(^/usr/(include|lib|src)/ | /torch/include/ | /pybind11/ | /include/python3 | /python3\.\d+/Python/
       | ^/(opt/rh|croot|build/python|pytorch)/ | /(aten/src|torch/csrc|c10)/ | ^\.\./sysdeps/ | /sysdeps/
       | ^\./(nptl|csu|elf|io|stdlib|malloc)/ )""",
    re.VERBOSE,
)
_LIBRARY_BINARY = re.compile(
    r"""(^(/usr)?/lib(32|64)?/ | /torch/lib/ | /torch/_C\b | /lib-dynload/ | /libpython3 | ^\[ | /numpy(\.libs)?/
       | /debugpy/ | /\.nv/
       | /bin/python[\d.]*$ | /pyharness/_(trap|guard|engine)\. )""",
    re.VERBOSE,
)
_LIBRARY_PYTHON = re.compile(
    r"/(site|dist)-packages/(torch|functorch|torchgen|debugpy|pyharness|_distutils_hack)/|^<|/pyharness/(debuggee|fx|model|native)/"
)


def is_user_source(path: str | None) -> bool:
    """Whether a C or C++ source file is the user's: not torch's, pybind11's or the standard library's."""
    return bool(path) and not _LIBRARY_SOURCE.search(path or "")


def is_user_binary(path: str | None) -> bool:
    """Whether a shared library can be the user's: not the system's, torch's, Python's or NumPy's."""
    return bool(path) and not _LIBRARY_BINARY.search(path or "")


def is_user_python(path: str | None, stdlib: str = "") -> bool:
    """Whether a Python file is the user's: not torch's, the standard library's or the debugger's.

    ``stdlib`` is the debuggee's standard library folder (this interpreter's when empty).
    """
    if not path or _LIBRARY_PYTHON.search(path):
        return False
    stdlib = stdlib or sysconfig.get_paths()["stdlib"]
    return not path.startswith(stdlib.rstrip("/") + "/") or "/site-packages/" in path
