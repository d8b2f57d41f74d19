"""What belongs to the process that made it: a child that this one forks is told to leave it alone."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable


class Owned(Protocol):
    """Something that a forked child has a copy of, and may not use."""

    def disown(self) -> None:
        """Give up what the copy has of it; called in the child, before it does anything else."""


_OWNED: weakref.WeakSet[Owned] = weakref.WeakSet()


def own(it: Owned) -> None:
    """Have ``it`` stay this process's."""
    _OWNED.add(it)


def blind(descriptors: Iterable[int]) -> None:
    """Have descriptors lead nowhere: what is open in a child alone keeps the other side from hearing our end.

    Their Python objects stay as they are: a thread that the child does not have may have held a lock of theirs.
    """
    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for descriptor in descriptors:
        if descriptor >= 0:
            os.dup2(nowhere, descriptor, inheritable=False)
    os.close(nowhere)


def _in_child() -> None:
    for it in list(_OWNED):
        it.disown()


os.register_at_fork(after_in_child=_in_child)
