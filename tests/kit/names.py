"""How frames of this Python call functions."""

import sys


def qualified(name: str) -> str:
    """The name of a method in a frame: with its class from Python 3.11 on; before, code has no qualified name."""
    return name if sys.version_info >= (3, 11) else name.rpartition(".")[2]
