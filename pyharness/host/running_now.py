"""What of the user's code this process runs now: told to the process that waits for it, which says what crashed."""

from __future__ import annotations

import mmap
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator

_SIZE = 4096


class RunningNow:
    """The page that both processes have, of which there is one in a process; none where nobody waits."""

    page: ClassVar[mmap.mmap | None] = None

    @classmethod
    def share(cls) -> None:
        """Have the processes that are forked from now on tell this one."""
        cls.page = mmap.mmap(-1, _SIZE)

    @classmethod
    def name(cls) -> str:
        """What the other process said last; empty where it ran nothing of the user's."""
        text = cls.page[:].partition(b"\0")[0] if cls.page is not None else b""
        return text.decode(errors="replace")

    @classmethod
    def tell(cls, name: str) -> None:
        """Say it to the process that waits."""
        if cls.page is not None:
            text = name.encode(errors="replace")[: _SIZE - 1]
            cls.page[: len(text) + 1] = text + b"\0"


@contextmanager
def running(name: str) -> Iterator[None]:
    """For the time of a block, which runs what ``name`` says."""
    before = RunningNow.name()
    RunningNow.tell(name)
    try:
        yield
    finally:
        RunningNow.tell(before)
