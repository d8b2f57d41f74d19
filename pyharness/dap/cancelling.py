"""``cancel``: ends the expression that a request waits for, and drops a request whose turn has not come."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.dapwire.wire import Malformed
from pyharness.model.errors import DebuggerLostError, HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.dapwire.wire import Message

_LEAVING = frozenset({"disconnect", "terminate", "restart"})
"""Whoever leaves does not wait: for an expression, or for an engine to be built."""
CANCELLED = "cancelled"
"""The message of a refused request that the protocol has for this."""


class Cancelling:
    """Which of the client's requests is handled, and which are not to be; told on two threads."""

    def __init__(self, interrupt: Callable[[], None], leaves: Callable[[], None]) -> None:
        self._interrupt = interrupt
        """Ends what the program evaluates, if anything; from any thread."""
        self._leaves = leaves
        """Ends what takes long and is none of the program's; from any thread."""
        self._lock = threading.Lock()
        self._waiting: set[int] = set()
        self._handled: int | None = None
        self._cancelled: set[int] = set()

    def hear(self, message: Message | Malformed | None) -> None:
        """A message of the client's has come; it is handled in its turn."""
        if message is None:
            self._leaves()
            return
        if isinstance(message, Malformed) or message["type"] != "request":
            return
        if message["command"] in _LEAVING:
            self._leaves()
        arguments = message.get("arguments")
        is_cancel = message["command"] == "cancel" and isinstance(arguments, dict)
        named = arguments.get("requestId") if is_cancel and arguments else None
        with self._lock:
            self._waiting.add(message["seq"])
            if isinstance(named, int) and named in self._waiting:
                self._cancelled.add(named)
            if message["command"] in _LEAVING and self._handled is not None:
                self._cancelled.add(self._handled)
            if self._handled in self._cancelled:
                self._interrupt()

    @contextmanager
    def handling(self, message: Message) -> Iterator[None]:
        """Around the handling of a request; one that was cancelled fails with the protocol's own word."""
        number = message["seq"]
        try:
            self._begin(number)
            yield
        except DebuggerLostError:
            raise
        except HarnessError as error:
            if number in self._cancelled:
                raise HarnessError(CANCELLED, str(error) if error.message != CANCELLED else "") from error
            raise
        finally:
            with self._lock:
                self._handled = None
                self._waiting.discard(number)
                self._cancelled.discard(number)

    def _begin(self, number: int) -> None:
        with self._lock:
            if number in self._cancelled:
                raise HarnessError(CANCELLED)
            self._handled = number
