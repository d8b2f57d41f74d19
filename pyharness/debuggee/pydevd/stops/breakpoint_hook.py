"""What ``breakpoint()`` calls while debugpy is here, and what it called before and will again."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, ClassVar

from pyharness.debuggee.pydevd.stops.asked_files import ASKED_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Hooks:
    programs: ClassVar[Any] = None


@contextmanager
def taken() -> Iterator[None]:
    """Import debugpy in the block; from then on its hook is called."""
    _Hooks.programs = sys.breakpointhook
    yield
    if sys.breakpointhook is not _Hooks.programs:
        update_wrapper(_stop, sys.breakpointhook)  # others tell debugpy's by its module
    sys.breakpointhook = _stop


def _stop(*_arguments: Any, **_named: Any) -> None:
    """Stop in the caller, as debugpy's own hook, but in code without a file, too: somebody has asked for it there."""
    import debugpy
    import pydevd

    caller = sys._getframe(1)
    if debugpy.is_client_connected():
        ASKED_FILES.add(caller)
        pydevd.settrace(suspend=True, trace_only_current_thread=True, patch_multiprocessing=False, stop_at_frame=caller)


def give_back() -> None:
    """The program's is called again, unless it has put another one there meanwhile."""
    if sys.breakpointhook is _stop:
        sys.breakpointhook = _Hooks.programs
