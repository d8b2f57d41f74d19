"""What ``breakpoint()`` calls while debugpy is here, and what it called before and will again."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Hooks:
    programs: ClassVar[Any] = None
    debugpys: ClassVar[Any] = None
    """debugpy puts it there once, when it is imported."""


@contextmanager
def taken() -> Iterator[None]:
    """Import debugpy in the block; from then on its hook is called."""
    _Hooks.programs = sys.breakpointhook
    yield
    if _Hooks.debugpys is None:
        _Hooks.debugpys = sys.breakpointhook
    sys.breakpointhook = _Hooks.debugpys


def give_back() -> None:
    """The program's is called again, unless it has put another one there meanwhile."""
    if _Hooks.debugpys is not None and sys.breakpointhook is _Hooks.debugpys:
        sys.breakpointhook = _Hooks.programs
