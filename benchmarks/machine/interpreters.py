"""Interpreters on the PATH, by version."""

from __future__ import annotations

import shutil
import subprocess
import sys


def of_version(version: str) -> str | None:
    """The interpreter itself: what stands on the PATH may be a script that chooses one (pyenv's)."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    found = shutil.which(f"python{version}")
    asked = [found or "", "-c", "import sys; print(sys.executable)"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False) if found else None
    return done.stdout.strip() if done is not None and done.returncode == 0 else None


def newest(*versions: str) -> str | None:
    """The first of ``versions`` that is here."""
    return next((found for version in versions if (found := of_version(version))), None)
