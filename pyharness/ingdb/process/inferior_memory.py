"""The memory of the selected inferior, as what reads programs takes it."""

from __future__ import annotations

import gdb


def read(address: int, size: int) -> bytes:
    """Bytes of the selected inferior; ``OSError`` where they cannot be read."""
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except (gdb.error, OverflowError) as error:
        raise OSError(str(error)) from error
