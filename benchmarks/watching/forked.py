"""Two copies of this process, alike but for what each does first, measured in turns.

A fork keeps every address: two processes that were started apart differ by percents from the luck of their layout.
"""

from __future__ import annotations

import os
import struct
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def copy_of_this_process(first: Callable[[], object], measure: Callable[[], float]) -> Iterator[Callable[[], float]]:
    """Gives what calls ``measure`` in a fork that has called ``first``."""
    asked, ask = os.pipe()
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ask)
        _answer(first, measure, asked, tell)
    for end in (asked, tell):
        os.close(end)

    def ask_it() -> float:
        os.write(ask, b"?")
        value: float
        (value,) = struct.unpack("d", os.read(told, 8))
        return value

    try:
        yield ask_it
    finally:
        os.close(ask)  # which ends it
        os.close(told)
        os.waitpid(pid, 0)


def _answer(first: Callable[[], object], measure: Callable[[], float], asked: int, tell: int) -> None:
    """Never returns: what the parent has to do is not to be done twice."""
    try:
        first()
        while os.read(asked, 1):
            os.write(tell, struct.pack("d", measure()))
    except BaseException:  # noqa: BLE001  (the parent sees that no answer comes)
        traceback.print_exc()
    finally:
        os._exit(0)
