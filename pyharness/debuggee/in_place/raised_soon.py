"""Raises an exception in the user's code from within a debugger, which would take it for its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from types import FrameType


def raise_soon(error: BaseException) -> None:
    """Raise ``error`` at the next call or return of the user's code on this thread.

    By way of the thread's profile function: pydevd has the trace function, and Python calls none within that.
    """

    def raises(frame: FrameType, _event: str, _argument: object) -> None:
        if is_user_python(frame.f_code.co_filename):
            sys.setprofile(None)
            raise error

    sys.setprofile(raises)
