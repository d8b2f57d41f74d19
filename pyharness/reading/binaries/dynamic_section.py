"""What a library asks of the dynamic linker: the libraries that it needs, and where it looks for them.

Source: System V ABI (gABI), "Dynamic Section".
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.visible import is_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.binaries.elf import Elf

_ENTRY = struct.Struct("<qQ")
_END, _NEEDED, _RPATH, _RUNPATH = 0, 1, 15, 29


@dataclass(frozen=True)
class Dynamic:
    """Names as they are written in the file."""

    needed: tuple[str, ...]
    folders: tuple[str, ...]
    """RUNPATH or RPATH, with ``$ORIGIN`` replaced."""

    def found(self) -> Iterator[str]:
        """The files of the needed libraries that lie in its own folders."""
        for name in self.needed:
            paths = (os.path.join(folder, name) for folder in self.folders)  # noqa: PTH118
            path = next((path for path in paths if is_file(path)), None)
            if path:
                yield path


def dynamic(elf: Elf) -> Dynamic:
    """Read ``.dynamic``; empty for what is linked statically."""
    section, strings = elf.section_data(".dynamic"), bytes(elf.section_data(".dynstr"))
    entries: dict[int, list[str]] = {}
    for tag, value in _ENTRY.iter_unpack(section[: len(section) // _ENTRY.size * _ENTRY.size]):
        if tag == _END:
            break
        if tag in {_NEEDED, _RPATH, _RUNPATH}:
            text = strings[value : strings.find(b"\0", value)].decode("utf-8", "replace")
            entries.setdefault(tag, []).append(text)
    folders = ":".join(entries.get(_RUNPATH) or entries.get(_RPATH) or [])
    origin = str(Path(elf.path).resolve().parent)
    named = (folder.replace("$ORIGIN", origin).replace("${ORIGIN}", origin) for folder in folders.split(":"))
    return Dynamic(tuple(entries.get(_NEEDED, [])), tuple(filter(None, named)))
