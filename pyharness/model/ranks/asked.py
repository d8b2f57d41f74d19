"""A call of ``torch.distributed`` that a thread is in, with the rank that it named."""

from __future__ import annotations

from pyharness.model.frozen import frozen


@frozen
class Asked:
    """One call, as ``recv(tensor, src=1)``."""

    function: str
    source: int | None = None
    """``src``; ``None`` where the function has none, or any will do."""
    target: int | None = None
    """``dst``."""
    of_all: bool = False
    """Whether it is a call of the group of all ranks."""
    members: tuple[int, ...] = ()
    """Ranks of the group that it makes; empty for all, and where it makes none."""

    @property
    def text(self) -> str:
        """The call for people."""
        source = f" from rank {self.source}" if self.source is not None else ""
        return f"{self.function}{source}{f' to rank {self.target}' if self.target is not None else ''}"
