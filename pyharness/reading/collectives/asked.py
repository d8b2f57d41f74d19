"""What a thread has asked ``torch.distributed`` for, from the arguments of the call that it is in.

The flight recorder has no root of a broadcast, and Gloo notes no messages between two ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.ranks.asked import Asked
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.reading.python.frames import PythonFrame
    from pyharness.reading.python.threads import Python

_FILE = "/torch/distributed/distributed_c10d.py"
_MEMBERS = "ranks"
_PEERS = ("src", "dst", "group_src", "group_dst")


def asked(python: Python, frames: Iterable[PythonFrame]) -> Asked | None:
    """The public function that a thread is in, and the rank that it named; ``None`` outside of any.

    ``frames`` are innermost first.
    """
    found = [frame for frame in frames if (frame.file or "").endswith(_FILE) and not frame.function.startswith("_")]
    if not found:
        return None
    of_all = False
    members: tuple[int, ...] = ()
    try:
        given = dict(python.local_addresses(found[-1]))
        peers = {name: number for name in _PEERS if (number := _number(python, given.get(name, 0))) is not None}
        members = _numbers(python, given.get(_MEMBERS, 0))
        of_all = "group" in given and python.values.type_of(given["group"])[1][0] == "NoneType"
    except UnreadableError:
        peers = {}
    source, target = (peers.get(name, peers.get(f"group_{name}")) for name in ("src", "dst"))
    return Asked(found[-1].function, source, target, of_all, members)


def _numbers(python: Python, address: int) -> tuple[int, ...]:
    """The ints of a list; empty for what is none."""
    if not address or python.values.type_of(address)[1][0] != "list":
        return ()
    numbers = (_number(python, each) for each in python.values.sequence(address, kind="list")[1])
    return tuple(number for number in numbers if number is not None)


def _number(python: Python, address: int) -> int | None:
    """``None`` for what is no int."""
    is_number = address and python.values.type_of(address)[1][0] == "int"
    return python.values.integer(address) if is_number else None
