"""Decompresses zstd, in which compilers and linkers may pack debug information, with the library that gdb itself uses.

Python has it from 3.14 on, and gdb's Python none of PyPI's packages.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

_LIBRARY = "libzstd.so.1"


class NoZstdError(Exception):
    """The system has no libzstd."""


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise NoZstdError(str(error)) from error
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
    return library


def decompress(data: bytes, size: int) -> bytes:
    """The ``size`` bytes that ``data`` is when decompressed.

    Raises:
        NoZstdError: There is no library that can.
        ValueError: ``data`` is damaged, or is not of that size.

    """
    library = _library()
    try:
        buffer = ctypes.create_string_buffer(size)
    except (MemoryError, OverflowError, ValueError) as error:
        raise ValueError(f"{size} bytes are too many") from error
    written = library.ZSTD_decompress(buffer, size, data, len(data))
    if written != size:  # an error is a number above all sizes
        raise ValueError("the data is damaged")
    return buffer.raw
