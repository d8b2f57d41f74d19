"""Builds extension.cpp (the module ``crossing``) and optimized.cpp, once for each content."""

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
OPTIMIZED = SOURCE.with_name("optimized.cpp")
FLAGS = ("-std=c++17", "-g", "-fPIC", "-shared", "-pthread")


def _headers():
    """pybind11's own, else those that torch brings."""
    for package, folder in (("pybind11", "include"), ("torch", "include")):
        spec = importlib.util.find_spec(package)
        if spec and spec.origin and (include := Path(spec.origin).parent / folder).is_dir():
            return include
    raise AssertionError("pybind11 has no headers here, and torch is not installed")


def folder(name="crossing", source=SOURCE, level="-O0"):
    """The folder with the built module; concurrent test processes build it once."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    key = hashlib.sha256(source.read_bytes() + f"{FLAGS} {level} {sys.version}".encode()).hexdigest()[:16]
    target = ROOT / "build" / "tests" / f"{name}-{key}"
    target.mkdir(parents=True, exist_ok=True)
    module = target / f"{name}{suffix}"
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not module.exists():
            _build(module, source, level)
    return target


def _build(module, source, level):
    made = module.with_suffix(".part")
    includes = [f"-I{_headers()}", f"-I{sysconfig.get_paths()['include']}"]
    command = [os.environ.get("CXX", "c++"), *FLAGS, level, *includes, str(source), "-o", str(made)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not built.returncode, f"{' '.join(command)}\n{built.stderr}"
    made.replace(module)
