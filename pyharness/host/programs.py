"""Programs that Python does not run, and that may run it: one in C++ that embeds it, a shell script that starts it."""

from __future__ import annotations

import os
import struct
from pathlib import Path

_ELF = b"\x7fELF\x02\x01"
"""64 bits, little-endian."""
_EXECUTABLE, _SHARED = 2, 3
_INTERPRETER = 3
"""``PT_INTERP``: what a program has and a library has not."""
_SHELLS = {"sh", "bash", "dash", "ksh", "zsh", "fish", "csh", "tcsh", "ash"}
_MOST = 4096


def is_program(path: str | os.PathLike[str]) -> bool:
    """Whether a file is an executable, or an executable script of a shell's; no library, no core file."""
    try:
        if not Path(path).is_file() or not os.access(path, os.X_OK):
            return False
        with Path(path).open("rb") as file:
            head = file.read(_MOST)
    except (OSError, ValueError):
        return False
    return _is_executable(head) if head.startswith(_ELF) else _is_shell_script(head)


def _is_executable(head: bytes) -> bool:
    if len(head) < 64:
        return False
    kind = struct.unpack_from("<H", head, 16)[0]
    first, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    at = [first + size * number for number in range(count)]
    return kind == _EXECUTABLE or (
        kind == _SHARED and any(head[offset : offset + 4] == struct.pack("<I", _INTERPRETER) for offset in at)
    )


def _is_shell_script(head: bytes) -> bool:
    if not head.startswith(b"#!"):
        return False
    words = head[2:].split(b"\n", 1)[0].decode(errors="replace").split()
    names = [Path(word).name for word in words if not word.startswith("-")]
    return bool({name for name in names[:2] if name != "env"} & _SHELLS)
