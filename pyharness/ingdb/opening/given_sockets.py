"""Connected sockets that gdb makes in a program: whoever may trace it takes one end of each out of it.

Nothing listens, and no name is needed: it works across containers, which share neither files nor a network.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import gdb

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

NEEDED = ("socketpair", "fcntl", "close")
_UNIX, _STREAM_CLOSED_ON_EXEC = 1, 0x80001
_COPY_CLOSED_ON_EXEC, _FIRST = 1030, 3


def make(found: dict[str, int], call: Callable[..., int], slot: int, count: int) -> list[tuple[int, int]]:
    """``count`` pairs of descriptors of the program's; ``slot`` is 8 bytes of its memory."""
    made: list[tuple[int, int]] = []
    for _ in range(count):
        if call(found["socketpair"], _UNIX, _STREAM_CLOSED_ON_EXEC, 0, slot) & 0xFFFFFFFF:
            close(found, call, made)
            raise HarnessError("The program cannot open a socket.", "Has it used up its descriptors (ulimit -n)?")
        first, second = struct.unpack("2i", gdb.selected_inferior().read_memory(slot, 8).tobytes())
        made.append((_above_streams(found, call, first), _above_streams(found, call, second)))
    return made


def _above_streams(found: dict[str, int], call: Callable[..., int], descriptor: int) -> int:
    """The descriptor, or a copy of it, where the program has closed one of its streams: that one's number is taken."""
    if descriptor >= _FIRST:
        return descriptor
    copy = call(found["fcntl"], descriptor, _COPY_CLOSED_ON_EXEC, _FIRST)
    call(found["close"], descriptor)
    return copy & 0xFFFFFFFF


def close(found: dict[str, int], call: Callable[..., int], pairs: list[tuple[int, int]]) -> None:
    """Give them back."""
    for descriptor in (each for pair in pairs for each in pair):
        call(found["close"], descriptor)
