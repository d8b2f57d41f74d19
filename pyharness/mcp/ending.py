"""How signals end the server: in order, with all that it has started."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from pyharness.prompt.signals import handled

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


@contextmanager
def told_to_end() -> Iterator[asyncio.Future[int]]:
    """The first signal that comes within the block, of those that end a server; those that follow change nothing.

    One that was ignored when the server was started, as `nohup` does with SIGHUP, remains so.
    """
    loop = asyncio.get_running_loop()
    told: asyncio.Future[int] = loop.create_future()

    def tell(number: int) -> None:
        if not told.done():
            told.set_result(number)

    def heard(number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(tell, number)

    numbers = [each for each in _ENDING if signal.getsignal(each) is not signal.SIG_IGN]
    with handled(dict.fromkeys(numbers, heard)):
        yield told


def leave(number: int) -> NoReturn:
    """End this process with the status that a shell has for the signal, at once.

    A thread reads what the client sends, and ends when the client does: no interpreter can end in order before.
    """
    atexit._run_exitfuncs()  # noqa: SLF001  (what was made is removed)
    os._exit(128 + number)
