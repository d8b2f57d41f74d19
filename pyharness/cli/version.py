"""``pyharness --version``: which pyharness, which build of its extension, which torch, which gdb."""

from __future__ import annotations

import platform
import shutil
import subprocess
from importlib import metadata
from typing import TYPE_CHECKING

import pyharness
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator


def lines() -> Iterator[str]:
    """One line a part."""
    yield f"pyharness {pyharness.__version__}"
    yield f"extension {_extension()}"
    yield f"torch     {_installed('torch')}"
    yield f"debugpy   {_installed('debugpy')}"
    yield f"gdb       {_gdb()}"
    yield f"python    {platform.python_version()}"


def _extension() -> str:
    from pyharness.native import build_info

    try:
        return str(build_info())
    except HarnessError as error:
        return " ".join(f"none: {error.message} {error.remedy}".split())


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _gdb() -> str:
    path = shutil.which("gdb")
    if path is None:
        return "not installed"
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    first = answer.stdout.partition("\n")[0]
    return f"{first.rpartition(' ')[2] or 'does not run'} ({path})"
