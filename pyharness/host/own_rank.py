"""The rank of this process, which conditions and log points name ``rank``."""

from __future__ import annotations

import os
import sys

from pyharness.model.ranks.launchers import told_rank


class OwnRank:
    """What this process knows of its rank; there is one in each process."""

    arriving: int | None = None
    """The rank with which its process group is about to be made."""

    @property
    def number(self) -> int | None:
        """What ``torch.distributed`` says where the group is made, else a launcher; ``None`` where nothing says it."""
        distributed = sys.modules.get("torch.distributed")
        is_made = getattr(distributed, "is_initialized", None)  # missing in a torch that is built without it
        if distributed is not None and is_made is not None and is_made():
            rank: int = distributed.get_rank()
            return rank
        told = told_rank(os.environ)
        return told[0] if told else self.arriving


OWN_RANK = OwnRank()
