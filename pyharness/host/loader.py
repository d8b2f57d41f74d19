"""Programs that the dynamic loader runs by name, as the gdb of the extra ``[gdb]``: each looks like the loader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_TAKE_A_WORD = {
    "--library-path",
    "--inhibit-rpath",
    "--audit",
    "--preload",
    "--argv0",
    "--glibc-hwcaps-prepend",
    "--glibc-hwcaps-mask",
}
"""Options of glibc's loader (``ld.so --help``) that have a word of their own behind them."""


def without_loader(words: Sequence[str]) -> list[str]:
    """The words of a command line from the program's own on; all of them where no loader is named."""
    if not words or not is_loader(Path(words[0]).name):
        return list(words)
    rest = list(words[1:])
    while rest and rest[0].startswith("--"):
        del rest[: 2 if rest[0] in _TAKE_A_WORD else 1]
    return rest or list(words)


def words_of(pid: int) -> list[str]:
    """The words of a process's command line, without a loader; none where it cannot be read."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return []
    return without_loader(line.rstrip("\0").split("\0")) if line else []


def is_loader(name: str) -> bool:
    """Whether a file, or a process as the kernel cuts its name, is called as glibc's loader is."""
    return name.startswith(("ld-linux", "ld.so"))
