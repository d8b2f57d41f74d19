"""Builds the kernels that these tests break in, once for each content: kept in the build folder."""

import fcntl
import hashlib
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest
import torch

from pyharness.native import include_dir

debugger_needed = pytest.mark.skipif(
    os.environ.get("PYHARNESS_BUILD") == "asan",
    reason="the sanitized engine has lines, which a debugger steps through, and a gdb that starts it is sanitized too",
)
ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"
_TORCH = Path(torch.__file__).parent
_SHARED = ("-std=c++20", "-g", "-w", "-fPIC", "-shared", f"-I{include_dir()}")


def _built(source, *flags):
    header = Path(include_dir()) / "pyharness" / "breakpoint.h"
    key = hashlib.sha256(
        source.read_bytes() + header.read_bytes() + f"{flags} {torch.__version__}".encode()
    ).hexdigest()[:16]
    target = ROOT / "build" / "tests" / f"{source.stem}-{key}.so"
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            made = target.with_suffix(".part")
            command = [os.environ.get("CXX", "c++"), *_SHARED, str(source), *flags, "-o", str(made)]
            built = subprocess.run(command, capture_output=True, text=True, check=False)
            assert not built.returncode, f"{' '.join(command)}\n{built.stderr}"
            made.replace(target)
    return target


def _built_with_torch(source, *libraries):
    folders = (_TORCH / "include", _TORCH / "include/torch/csrc/api/include", sysconfig.get_paths()["include"])
    includes = [f"-I{folder}" for folder in folders]
    return _built(source, "-O0", *includes, f"-L{_TORCH / 'lib'}", *libraries, "-ltorch_cpu", "-lc10")


def op_kernel():
    """An extension with the op ``walk::weighted``."""
    return _built_with_torch(PROGRAMS / "op_kernel.cpp")


def survey():
    """The Python module ``survey``, whose C++ autograd Function is behind an op and called without one."""
    return _built_with_torch(PROGRAMS / "survey.cpp", "-ltorch_python", "-ltorch")


def site_kernel(*flags):
    """A plain library with places in every kind of function."""
    return _built(PROGRAMS / "site_kernel.cpp", *flags)
