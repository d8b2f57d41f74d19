"""Fresh environments, and pip in them as on a machine without a compiler."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAMES = "from importlib import metadata as m; print(*sorted({d.name.lower() for d in m.distributions()}))"
_TORCH = "import torch; print(torch.__version__, torch.__file__)"
_FRESH = ("--no-cache-dir", "--disable-pip-version-check", "--quiet")


class Environment:
    """A virtual environment, and what is asked of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"

    def install(self, words: Sequence[str]) -> float:
        """Seconds that pip takes to install ``words``, of which nothing is in its cache; no compiler is on the PATH."""
        command = [str(self.bin / "python"), "-m", "pip", "install", *_FRESH, *words]
        environment = {name: value for name, value in os.environ.items() if name not in {"CC", "CXX", "PYTHONPATH"}}
        started = time.perf_counter()
        done = subprocess.run(
            command, env={**environment, "PATH": str(self.bin)}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise HarnessError(f"pip did not install {' '.join(words)}.", done.stderr[-1000:])
        return time.perf_counter() - started

    def packages(self) -> set[str]:
        """The names of what is installed."""
        return set(self._said(_NAMES).split())

    def torch(self) -> str:
        """The version and the file of the torch that a program imports here."""
        return self._said(_TORCH).strip()

    def see_ours(self) -> None:
        """Make the torch of this process's environment importable, which pip then takes for installed."""
        (site_packages,) = self.folder.glob("lib/python*/site-packages")
        (site_packages / "ours.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")

    def _said(self, code: str) -> str:
        done = subprocess.run([self.bin / "python", "-c", code], capture_output=True, text=True, check=True)
        return done.stdout


@contextmanager
def fresh(python: str) -> Iterator[Environment]:
    """An environment of ``python`` that has pip alone, removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        yield Environment(Path(folder))
