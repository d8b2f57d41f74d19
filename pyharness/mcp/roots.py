"""The folders that a client may name files in: those of its project, and no others."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.interpreters import interpreter_for
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterable


class OutsideError(HarnessError):
    """A path that lies in no root."""


class Roots:
    """What ``--root`` names; else what the client says; else the folder that the server was started in."""

    def __init__(self, named: Iterable[str] = ()) -> None:
        self._named = [Path(os.path.realpath(each)) for each in named]
        self._clients: list[Path] = []
        self.asks_client = not self._named
        """Whether the client is to be asked: before the first path, and when it says that its roots have changed."""

    def of_client(self, folders: Iterable[str]) -> None:
        """The client has said which they are."""
        self._clients = [Path(os.path.realpath(each)) for each in folders]
        self.asks_client = False

    @property
    def folders(self) -> list[Path]:
        """All roots, the first of which is where a program runs that names no folder."""
        return self._named or self._clients or [Path(os.path.realpath(Path.cwd()))]

    def folder(self, named: str) -> str:
        """The folder that a program runs in."""
        return str(self.inside(named)) if named else str(self.folders[0])

    def inside(self, named: str, folder: str = "") -> Path:
        """A path as it is from ``folder``; ``OutsideError`` where it lies in no root, links followed."""
        path = Path(folder or self.folders[0], named)
        real = Path(os.path.realpath(path))
        if not any(real == root or root in real.parents for root in self.folders):
            roots = ", ".join(map(str, self.folders))
            raise OutsideError(
                f"{named} is outside of this session's roots ({roots}).",
                "Name a path in there, or start the server with --root FOLDER.",
            )
        return path

    def python(self, named: str, folder: str, script: str) -> str:
        """The program's interpreter: one of the roots', one that PATH has, or the one that we would choose."""
        chosen = interpreter_for(folder, script)
        if not named:
            return chosen.path if chosen else ""
        on_path = shutil.which(named)
        if os.sep not in named and on_path:
            return on_path
        known = {chosen.path} if chosen else set()
        known |= {found for name in ("python3", "python") if (found := shutil.which(name))}
        return named if named in known else str(self.inside(named, folder))
