"""What a session asks of the terminal that it shares with the program, whosesoever that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import TextIO


class Terminal(Protocol):
    """The program has it while it runs, the prompt at a stop."""

    on_interrupt: Callable[[], None]
    """Ctrl-C while the program runs; called on a thread of the terminal's."""
    on_quit: Callable[[], None]
    """Ctrl-\\ likewise."""
    on_gone: Callable[[], None]
    """Nobody is there any more; called likewise."""
    midline: bool
    """Whether the program's output had not ended its line at the last stop."""

    def stream(self, ours: TextIO) -> int | None:
        """What a program that is started gets in place of one of our streams; ``None`` for that stream itself."""

    def lent(self) -> AbstractContextManager[None]:
        """The program has the keys, and shows what it writes at once."""

    def show(self) -> None:
        """Show what threads that still run have written meanwhile."""

    def leave(self, *, quits: bool) -> None:
        """The program is about to be let go, by `quit` or otherwise."""

    def close(self) -> None:
        """Leave the terminal to the program."""
