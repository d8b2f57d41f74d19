"""The memory of this very process, and memory made of bytes, as the readers of a stopped one see it."""

import os

import torch

from pyharness.ingdb.tensors.reading import read_tensor
from pyharness.reading.tensors.layout import for_version

LAYOUT = for_version(torch.__version__)
_alive = []
_MEMORY = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)


def read_own(address, size):
    """Bytes of this process; ``OSError`` where nothing is mapped."""
    return os.pread(_MEMORY, size, address)


def info_of(tensor):
    """What we read of one of our own tensors, which lives on: its memory is read again later."""
    _alive.append(tensor)
    return read_tensor(read_own, tensor._cdata, LAYOUT)


class Made:
    """Memory of a few pieces; counts what is read of it."""

    def __init__(self, pieces):
        self.pieces = dict(pieces)
        self.bytes_read = 0

    def __call__(self, address, size):
        self.bytes_read += size
        for start, data in self.pieces.items():
            if start <= address and address + size <= start + len(data):
                return bytes(data[address - start : address - start + size])
        raise OSError(f"{size} bytes at {address:#x}")
