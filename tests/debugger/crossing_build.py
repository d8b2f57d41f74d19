"""Builds extension.cpp (the module ``crossing``), once for each content."""

import fcntl
import hashlib
import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("extension.cpp")
FLAGS = ("-std=c++17", "-g", "-O0", "-fPIC", "-shared", "-pthread")


def _headers():
    """pybind11's own, else those that torch brings."""
    for package, folder in (("pybind11", "include"), ("torch", "include")):
        spec = importlib.util.find_spec(package)
        if spec and spec.origin and (include := Path(spec.origin).parent / folder).is_dir():
            return include
    raise AssertionError("pybind11 has no headers here, and torch is not installed")


def folder():
    """The folder with the built module; concurrent test processes build it once."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    key = hashlib.sha256(SOURCE.read_bytes() + f"{FLAGS} {sys.version}".encode()).hexdigest()[:16]
    target = ROOT / "build" / "tests" / f"crossing-{key}"
    target.mkdir(parents=True, exist_ok=True)
    module = target / f"crossing{suffix}"
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not module.exists():
            _build(module)
    return target


def _build(module):
    made = module.with_suffix(".part")
    includes = [f"-I{_headers()}", f"-I{sysconfig.get_paths()['include']}"]
    command = [os.environ.get("CXX", "c++"), *FLAGS, *includes, str(SOURCE), "-o", str(made)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not built.returncode, f"{' '.join(command)}\n{built.stderr}"
    made.replace(module)
