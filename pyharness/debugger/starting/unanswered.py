"""Which message of a program an answer is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyharness.protocol.channel import Message


class Unanswered:
    """Numbers of a program's messages until they are answered: several of its threads may ask at once."""

    def __init__(self) -> None:
        self._numbers: dict[int, tuple[Message[Any], int]] = {}
        """Key: the message's identity, because two threads may send equal ones. The value keeps the message alive."""

    def add(self, message: Message[Any], number: int) -> None:
        """Keep the number of a message."""
        if number:
            self._numbers[id(message)] = message, number

    def take(self, message: Message[Any]) -> int:
        """Give back the number of a message that is answered now; 0 for one that had none."""
        return self._numbers.pop(id(message), (message, 0))[1]
