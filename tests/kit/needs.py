"""Reasons to skip a test, all in one place: what a machine or a chosen build may lack. Whatever else is missing fails.

An extension that does not load is no reason: the tests that need it fail.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from kit.paths import ROOT


def skip(reason: str) -> NoReturn:
    """Skip the test that runs."""
    pytest.skip(reason)


# --- which Python ---

TRACE_FUNCTIONS = pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python has sys.monitoring: nothing is traced")

AN_ASKING_LOOP = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11) or platform.machine() != "x86_64" or hasattr(sys, "gettotalrefcount"),
    reason="only the loop of CPython 3.11 on x86-64 is asked where to trace",
)

LINES_OF_A_COPY = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="torch gives a forward with keyword-only parameters other lines on Python 3.10"
)

A_SAFE_PATH = pytest.mark.skipif(sys.version_info < (3, 11), reason="this Python always puts a folder on its path")


# --- what was built ---


def _is_sanitized() -> bool:
    return os.environ.get("PYHARNESS_BUILD") == "asan"


def _build() -> str:
    """The type of the extension's build; "" where it does not load, which is for the tests to say."""
    from pyharness.model.errors import HarnessError
    from pyharness.native import build_info

    try:
        return build_info().build_type
    except HarnessError:
        return ""


a_plain_build = pytest.mark.skipif(
    _is_sanitized(),
    reason="the sanitized engine has lines, which a debugger steps through, and a gdb that starts it is sanitized too",
)
a_fast_debugger = pytest.mark.skipif(_is_sanitized(), reason="a sanitized debugger is slow, and says more")


def debug_information() -> pytest.MarkDecorator:
    """For what steps into our own ops: skipped for a release build, and for nothing else."""
    return pytest.mark.skipif(_build() == "release", reason="a release build has no debug information")


def the_address_sanitizer() -> pytest.MarkDecorator:
    """For what faults on purpose and is caught."""
    return pytest.mark.skipif(_build() != "asan", reason="the address sanitizer: the asan build")


def file(path: Path, reason: str) -> pytest.MarkDecorator:
    """For what needs a file that not every checkout or machine has."""
    return pytest.mark.skipif(not path.exists(), reason=reason)


aten = file(ROOT / "build" / "aten" / "libaten_debug.so", "scripts/aten-debug.sh makes it of PyTorch's sources")
a_clone = file(ROOT / ".devcontainer" / "devcontainer.json", "a source distribution has no images")

# --- what the machine has ---


def a_program(name: str, hint: str = "") -> str:
    """The path of a program; where it is installed is said by ``hint``."""
    found = shutil.which(name)
    return found or skip(f"there is no {name}{hint and f': {hint}'}")


def program(name: str, hint: str = "", *, asked: str = "") -> pytest.MarkDecorator:
    """A mark that skips where a program is missing, or does not answer a word: rustup's rustc may have no compiler."""
    lacks = shutil.which(name) is None
    if asked and not lacks:
        lacks = subprocess.run([name, asked], capture_output=True, check=False).returncode != 0
    return pytest.mark.skipif(lacks, reason=f"there is no {name}{hint and f': {hint}'}")


def rusts_printers() -> pytest.MarkDecorator:
    """For values of Rust: rustc comes with printers for gdb, but Debian has them in a package of their own."""
    asked = shutil.which("rustc") and subprocess.run(
        ["rustc", "--print", "sysroot"], capture_output=True, text=True, check=False
    )
    place = Path(asked.stdout.strip() if asked else "", "lib/rustlib/etc/gdb_lookup.py")
    return pytest.mark.skipif(not place.is_absolute() or not place.exists(), reason="rustc has no rust-gdb beside it")


CRATES = Path("/usr/share/cargo/registry")
"""Where Debian installs crates of Rust."""


def crate(name: str, hint: str) -> pytest.MarkDecorator:
    """A mark that skips where a crate of Rust is not installed, or no cargo is that builds it."""
    lacks = shutil.which("cargo") is None or not any(CRATES.glob(f"{name}-[0-9]*"))
    return pytest.mark.skipif(lacks, reason=f"there is no crate {name}: {hint}")


def module(name: str, hint: str) -> pytest.MarkDecorator:
    """A mark that skips where Python has no module, which is too large to be among what tests install."""
    return pytest.mark.skipif(find_spec(name) is None, reason=f"there is no {name}: {hint}")


OPENCV = ("-I/usr/include/opencv4", "-I/usr/include/x86_64-linux-gnu/opencv4")
"""Flags of a compiler that finds OpenCV's headers where Debian has them."""


def header(name: str, hint: str) -> pytest.MarkDecorator:
    """A mark that skips where the compiler finds no such header, of a library that pip has not."""
    command = [os.environ.get("CXX", "c++"), *OPENCV, "-E", "-x", "c++", "-", "-o", os.devnull]
    asked = f"#if !__has_include(<{name}>)\n#error\n#endif\n"
    lacks = subprocess.run(command, input=asked, text=True, capture_output=True, check=False).returncode != 0
    return pytest.mark.skipif(lacks, reason=f"there is no {name}: {hint}")


def never(reason: str) -> pytest.MarkDecorator:
    """For the one case of a list that is empty here."""
    return pytest.mark.skip(reason=reason)


def a_libpython(linked: Path | None) -> Path:
    """What is linked with the interpreter as a library, which some Pythons come without."""
    if linked is None:
        skip("this Python comes without a libpython to link with")
    return linked


# --- what this user may do ---


def root(reason: str) -> None:
    """For what only root may do."""
    if os.geteuid() != 0:
        skip(reason)


def powerless(capabilities: str, reason: str) -> list[str]:
    """Words that run a command without what root may do; none for another user."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        skip(f"{reason}, and there is no setpriv to give that up")
    given_up = ",".join(f"-{each}" for each in capabilities.split(","))
    return ["setpriv", "--bounding-set", given_up, "--inh-caps", given_up]


def surroundings(before: Sequence[str], reason: str) -> list[str]:
    """``before``, which runs a command in namespaces of its own, where the machine lets us."""
    if subprocess.run([*before, "true"], capture_output=True, check=False).returncode:
        skip(reason)
    return list(before)


READ_ONLY_TEMPORARY = (
    "for each in /tmp /var/tmp; do mount --bind $each $each && mount -o remount,ro,bind $each || exit 9; done;"
    ' exec "$0" "$@"'
)
"""A shell's words that run a command where nothing can be written among temporary files; a clone there can be read."""


def a_small_disk(folder: Path, size: str) -> None:
    """Mount one at ``folder``; who asked takes it away."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", folder]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        skip("no small file system can be mounted here")


# --- what the internet has ---


def downloaded(reason: str) -> NoReturn:
    """For a client of other people's that is not here: in continuous integration it must be, or the run is red."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    skip(reason)
