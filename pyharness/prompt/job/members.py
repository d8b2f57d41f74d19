"""What the programs at one prompt are called: the ranks of a job, or a program and the processes that it starts."""

from __future__ import annotations

from pyharness.model.frozen import frozen


@frozen
class Members:
    """The words for them."""

    one: str
    many: str
    whole: str
    """What they all are together."""

    def numbered(self, numbers: str, *, several: bool) -> str:
        """Some of them: ``ranks 0-2``."""
        return f"{self.many if several else self.one} {numbers}"


RANKS = Members("rank", "ranks", "job")
PROCESSES = Members("process", "processes", "program")
