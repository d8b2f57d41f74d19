"""Where pyharness keeps its files: one private directory, or a temporary one where that cannot be used."""

from __future__ import annotations

import atexit
import os
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.folders import home_folder
from pyharness.host.private_folder import weakness
from pyharness.host.whole_file import write_whole
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_A_PAGE = 4096
"""Bytes: less than that fits into what a file system has set aside already."""


class StateError(HarnessError):
    """The private folder cannot be made, read or written, or it is not private."""

    def __init__(self, why: str, command: str = "") -> None:
        elsewhere = "ame a folder of yours in $PYHARNESS_HOME."
        remedy = f"Run `{command}`, or n{elsewhere}" if command else f"N{elsewhere}"
        super().__init__(f"The folder for pyharness's files cannot be used: {why}.", remedy)


def state_dir(*parts: str) -> Path:
    """``$PYHARNESS_HOME`` or ``$XDG_CACHE_HOME/pyharness`` (``~/.cache/pyharness``), made with mode 0700.

    ``parts`` name a folder below it, made likewise. ``StateError`` where that cannot be, or where somebody else could
    put files into it: gdb runs code that is kept there.
    """
    with state_errors():
        path = _root().absolute().joinpath(*parts)
        if "\n" in str(path):
            raise StateError("its path has a newline, which ends a command of gdb's")
        _make(path)
        if found := weakness(path):
            raise StateError(found.why, found.command)
    return path


def _make(path: Path) -> None:
    """Make a folder and those above it, all of them private; ``Path.mkdir`` leaves those above it to the umask.

    Nothing is made below what is another user's: root would make it wherever that user's links lead.
    """
    if path.is_dir():
        return
    if not path.parent.is_dir():
        _make(path.parent)
    elif found := weakness(path.parent, is_above=True):
        raise StateError(found.why, found.command)
    path.mkdir(mode=0o700, exist_ok=True)


def working_dir(*parts: str) -> Path:
    """``state_dir`` where a file can be written in it now, else ``temporary_dir``: for what only this process needs."""
    try:
        path = state_dir(*parts)
        check_room(path)
    except StateError:
        path = temporary_dir()
    return path


def check_room(path: Path) -> None:
    """``StateError`` where no file can be written in the folder ``path``: it may not be, or the disk is full."""
    import tempfile

    with state_errors(), tempfile.TemporaryFile(dir=path, buffering=0) as file:
        file.write(bytes(_A_PAGE))


@cache
def temporary_dir() -> Path:
    """A private folder among the system's temporary ones, which goes when this process ends."""
    import shutil
    import tempfile

    with state_errors():
        path = Path(tempfile.mkdtemp(prefix=_temporary_name(os.getpid())))  # mode 0700
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # not in a forked child
            shutil.rmtree(path, ignore_errors=True)

    atexit.register(remove)
    return path


def clear_after(pid: int, files: Iterable[str]) -> None:
    """Remove the temporary folder of the process ``pid``, which has ended: it could not where it was killed.

    ``files`` are what it made; one of them may be in that folder.
    """
    import shutil

    for folder in {Path(file).parent for file in files}:
        if folder.name.startswith(_temporary_name(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _temporary_name(pid: int) -> str:
    return f"pyharness-{pid}-"


@contextmanager
def state_errors() -> Iterator[None]:
    """Turns what the file system refuses into a ``StateError``."""
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise StateError(f"{error.strerror or error}{where}") from error


def write_private(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` atomically, readable by the owner only."""
    write_whole(path, data, 0o600)


def _root() -> Path:
    if named := os.environ.get("PYHARNESS_HOME"):
        return Path(named)
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    if cache_home.startswith("/"):  # else it does not count, says the specification
        return Path(cache_home) / "pyharness"
    home = home_folder()
    if home is None:
        raise StateError("this user has no home folder")
    return home / ".cache" / "pyharness"
