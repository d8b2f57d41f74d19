"""Memory that outlives what a test makes of descriptors, limits and disks: a file that is mapped as long as we live."""

from __future__ import annotations

import ctypes
import os

_READ_WRITE, _SHARED = 3, 1
"""Protection and kind, of ``mmap``."""


class SharedFile:
    """A file of some length, written as memory; Python's own ``mmap`` keeps a descriptor, and closes that number."""

    def __init__(self, path: str, length: int) -> None:
        self.path = path
        self._length = length
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(file, 0, length)  # a full disk is found here, and not when memory is written
            self._memory = memoryview((ctypes.c_char * length).from_address(_mapped(file, length))).cast("B")
        finally:
            os.close(file)

    def write(self, data: bytes) -> None:
        """All that it has from now on, as far as there is room; who reads meanwhile sees a 0 at its beginning."""
        data = data[: self._length - 1] + b"\0"
        self._memory[0] = 0
        self._memory[1 : len(data)] = data[1:]
        self._memory[0] = data[0]

    def put(self, place: int, data: bytes) -> None:
        """What it has from a place on, where there is room for that; the rest stays."""
        self._memory[place : place + len(data)] = data

    def read(self) -> bytes:
        """What this process, or another one, has written."""
        return bytes(self._memory)


def _mapped(file: int, length: int) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    address = library.mmap(None, length, _READ_WRITE, _SHARED, file, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(address)
