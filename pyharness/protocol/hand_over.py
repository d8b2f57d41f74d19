"""What gdb's code in a program in other surroundings says to the controller before any module of ours is there.

A line of JSON each, over the first pair of sockets: ``Introduction`` or ``Refusal`` by the program, ``Parcel`` by the
controller with the archive behind it, ``Unpacked`` or ``Refusal`` by the program. The program's side is written by hand
(``debugger/starting/injected_code.py``), for it can import nothing of this.
"""

from __future__ import annotations

import json
from typing import TypeVar, Union

from pyharness.model.codec import decode
from pyharness.model.frozen import frozen

T = TypeVar("T")


@frozen
class Introduction:
    """What the program has already."""

    has: str
    """Folder of the modules that an earlier visit brought; empty for none."""
    suffix: str
    """Ending of its extension modules, as ``.cpython-311-x86_64-linux-gnu.so``."""
    version: tuple[int, int]
    """Version of its Python: major, minor."""


@frozen
class Parcel:
    """What the controller brings."""

    size: int
    """Bytes of the archive that follows; 0 where the program has, or sees, all that it needs."""
    packages: dict[str, str]
    """Folder of each package where the controller has it."""


@frozen
class Unpacked:
    """The program can import our modules."""

    packages: dict[str, str]
    """Folder of each package, as the program sees it."""
    pid: int
    """Process id of the program, in its own namespace."""


@frozen
class Refusal:
    """The program cannot be debugged as a Python program."""

    error: str
    """Type and text of the exception."""


def said(kind: type[T], line: bytes) -> Union[T, Refusal]:  # noqa: UP007  (CPython 3.9 evaluates it)
    """What the program said, which is to be a ``kind``; ``ValueError`` where it is neither that nor a refusal."""
    data = json.loads(line)
    if isinstance(data, dict) and "error" in data:
        return decode(Refusal, data, "hand-over")
    return decode(kind, data, "hand-over")
