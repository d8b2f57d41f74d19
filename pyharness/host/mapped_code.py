"""The files that this process runs code of."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def mapped_code() -> Iterable[str]:
    """Each once: as the kernel has them, or the linker where the root has no /proc."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return _linked()
    fields = [line.split(maxsplit=5) for line in lines]
    return dict.fromkeys(field[5] for field in fields if len(field) == 6 and "x" in field[1])


def _linked() -> list[str]:
    names: list[str] = []

    def note(library: Any, _size: int, _data: object) -> int:
        names.append(os.fsdecode(library.contents.name or b""))
        return 0

    visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Linked), ctypes.c_size_t, ctypes.c_void_p)
    ctypes.pythonapi.dl_iterate_phdr(visit(note), None)  # the interpreter's symbols: the C library's, too
    return names


class _Linked(ctypes.Structure):
    """How ``struct dl_phdr_info`` begins."""

    _fields_ = (("address", ctypes.c_void_p), ("name", ctypes.c_char_p))
