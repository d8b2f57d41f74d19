"""Compiles the C++ that the tensor tests need, once for each source and torch: kept in the build folder."""

import fcntl
import hashlib
import os
import subprocess
import sysconfig
from pathlib import Path

import torch

ROOT = Path(__file__).parents[2]
INCLUDE = Path(torch.__file__).parent / "include"
FOLDERS = (INCLUDE, INCLUDE / "torch/csrc/api/include", sysconfig.get_paths()["include"])


def compiled(source, suffix, *flags):
    """Path of what ``source`` compiles to; removes nothing, so that older branches keep theirs."""
    version = f"{torch.__version__} {flags} {sysconfig.get_config_var('py_version')}"
    key = hashlib.sha256(source.read_bytes() + version.encode()).hexdigest()[:16]
    target = ROOT / "build" / "tests" / f"{source.stem}-{key}{suffix}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w") as lock:  # of two test processes the second waits: it is 15 s of a core
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            _compile(source, target, flags)
    return target


def _compile(source, target, flags):
    made = target.with_suffix(".part")
    includes = [f"-I{folder}" for folder in FOLDERS]
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-w", *includes, str(source), *flags, "-o", str(made)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not built.returncode, f"{' '.join(command)}\n{built.stderr}"
    made.replace(target)


def kernel():
    """The library whose op waits with a variable of every type."""
    libraries = Path(torch.__file__).parent / "lib"
    return compiled(
        ROOT / "tests/programs/tensor_kernel.cpp",
        ".so",
        *("-g", "-O0", "-fPIC", "-shared", f"-L{libraries}", "-ltorch_cpu", "-lc10"),
    )


def offsets_program():
    """Prints what the installed torch's headers say of its layout; its debug information defines every class."""
    # Nothing of torch is linked: what the headers would call is dropped with the functions that call it.
    flags = ("-fno-access-control", "-O1", "-g", "-femit-class-debug-always", "-ffunction-sections", "-fdata-sections")
    linking = ("-Wl,--gc-sections", "-Wl,-z,now", "-Wl,--unresolved-symbols=ignore-all")
    return compiled(Path(__file__).with_name("tensor_offsets.cpp"), "", *flags, *linking)
