"""The text of Python code that is in no file, such as a notebook's cell: a program keeps it for its own tracebacks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from pyharness.model.frames import Frame
    from pyharness.reading.python.threads import Python
    from pyharness.reading.python.values import Values

_MAX_FILES, _MAX_LINES, _MAX_LINE = 100_000, 1_000_000, 1 << 16
_WHOLE_ENTRY = 4
"""The parts of what ``linecache`` has read: size, time, lines, path. What it would still have to read has one."""
_LINES = 2
_FROZEN = "<frozen "


def unwritten(frames: Iterable[Frame], root: str = "") -> set[str]:
    """The names of the files of Python frames that are nowhere below ``root``."""
    files = {frame.file for frame in frames if frame.language == "python" and frame.file}
    return {file for file in files if not file.startswith(_FROZEN) and not _is_there(root, file)}


def _is_there(root: str, file: str) -> bool:
    return not file.startswith("<") and os.path.lexists(root + file if file.startswith("/") else file)


def source_texts(python: Python, wanted: Container[str]) -> dict[str, str]:
    """The texts of the ``wanted`` files that ``linecache`` of the program has, by their names."""
    found = {}
    try:
        cache = python.module_globals("linecache").get("cache", 0)
        entries = python.values.dict_items(cache, _MAX_FILES)[1] if cache else []
    except UnreadableError:
        return {}
    for key, entry in entries:
        name = _name(python.values, key)
        if name in wanted and (text := _text(python.values, entry)):
            found[name] = text
    return found


def _name(values: Values, key: int) -> str:
    """What ``linecache`` has an entry of; empty where that is no text."""
    try:
        return values.string(key)
    except UnreadableError:
        return ""


def _text(values: Values, entry: int) -> str:
    """What an entry holds; empty where it holds no lines."""
    try:
        parts = values.sequence(entry, _WHOLE_ENTRY)[1] if values.type_of(entry)[1][0] == "tuple" else []
        if len(parts) != _WHOLE_ENTRY or values.type_of(parts[_LINES])[1][0] != "list":
            return ""
        lines = values.sequence(parts[_LINES], _MAX_LINES, kind="list")[1]
        return "".join(values.string(line, _MAX_LINE).rstrip("\n") + "\n" for line in lines)  # timeit's have no ends
    except UnreadableError:
        return ""
