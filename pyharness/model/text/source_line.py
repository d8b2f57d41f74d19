"""The text of a source line, and a path as short as it can be said; for people to read."""

from __future__ import annotations

import linecache
import os
import re
from functools import lru_cache
from typing import ClassVar

from pyharness.host.folders import current_folder, home_folder
from pyharness.host.regular_file import read_regular, read_text
from pyharness.model.text.visible import in_one_line

MAX_SOURCE = 8 << 20
_LINE_END = re.compile(r"\r\n|\r|\n")
_PACKAGES = re.compile(r"^.*/(?:site|dist)-packages/")
_STDLIB = re.compile(r"^.*/lib/python3\.\d+/")


class _Files:
    """Where the sources lie that this process shows: one program's, which may live in a container."""

    root = ""
    told: ClassVar[dict[str, list[str]]] = {}
    """Lines of files that are nowhere on the disk, by their paths."""


def remember(path: str, text: str) -> None:
    """From now on ``text`` is the source of a file that is nowhere: of a notebook's cell, as its program tells it."""
    _Files.told[path] = lines_of(text)


def is_told(path: str) -> bool:
    """Whether the program has told that source."""
    return path in _Files.told


def all_lines(path: str) -> list[str]:
    """The lines of a source; none where it cannot be read."""
    try:
        return lines_of(read_text(path))
    except OSError:
        return _Files.told.get(path, [])


def python_source(path: str) -> bytes:
    """A Python source as its file has it, or as its program told it; ``OSError`` where it cannot be read."""
    told = _Files.told.get(path)
    return read_regular(path) if told is None else "\n".join([*told, ""]).encode()


def look_below(root: str) -> None:
    """From now on the text of a source is that of the file below ``root``, as ``/proc/PID/root``; empty for ours."""
    _Files.root = root


@lru_cache(maxsize=64)
def _lines(path: str, _modified: int) -> list[str]:
    try:
        return lines_of(read_text(path, MAX_SOURCE))
    except OSError:
        return []


def source_line(path: str | None, line: int | None) -> str:
    """Line ``line`` of the file, stripped; empty where it cannot be read."""
    if not path or not line:
        return ""
    lines = _Files.told.get(path) or _lines_now(_Files.root + path if path.startswith("/") else path)
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _lines_now(path: str) -> list[str]:
    if path.startswith("<"):
        return []
    try:
        status = os.stat(path)  # noqa: PTH116  (called for each frame)
    except (OSError, ValueError):  # a name that no file can have
        return []
    if not os.path.isfile(path) or status.st_size > MAX_SOURCE:  # noqa: PTH113  (called for each frame)
        return []
    return _lines(path, status.st_mtime_ns)


def lines_of(text: str) -> list[str]:
    """The lines of a source as Python and compilers count them: ``str.splitlines`` ends one at a form feed, too."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def known_line(path: str, line: int) -> str:
    """The text of a line, also of code that this process has in memory only: what torch generates is in linecache."""
    text = source_line(path, line)
    if text or os.path.lexists(path):  # linecache would open whatever lies there, and wait for a pipe
        return text
    return linecache.getline(path, line).strip()


def short_path(path: str) -> str:
    """The path as a person says it, in one line: from this folder, from its package, or from home."""
    return in_one_line(_shortened(path))


def _shortened(path: str) -> str:
    here, home = (f"{folder or ''}/" for folder in (current_folder(), home_folder()))
    for start, instead in ((_PACKAGES, ""), (_STDLIB, ""), (here, ""), (home, "~/")):
        if isinstance(start, str):
            if path.startswith(start) and len(start) > 2:
                return instead + path[len(start) :]
        elif start.match(path):
            return start.sub("", path)
    return path
