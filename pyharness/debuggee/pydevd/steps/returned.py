"""What a function has returned, for as long as the thread stands that has stepped out of it."""

from __future__ import annotations

import opcode
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from pyharness.debuggee.unpatched import threading
from pyharness.protocol.pydevd import RETURNED, RETURNED_BY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_RETURNS = {code for name, code in opcode.opmap.items() if name in {"RETURN_VALUE", "RETURN_CONST"}}


class _Returned:
    """By the thread's ident: the name of the function, and the value."""

    values: ClassVar[dict[int, tuple[str, Any]]] = {}
    stood: ClassVar[dict[int, tuple[tuple[int, int], ...]]] = {}
    """The frames that the thread had at its latest stop, innermost first: the ids of each and of its code, as that of a
    frame that has ended is given to the next. A destructor of what a function leaves behind, which runs as that ends,
    returns to the same caller, and nobody has stepped out of it."""


@contextmanager
def kept(caller: FrameType, event: str, value: Any) -> Iterator[None]:
    """Within the block, in which the thread stands in ``caller``; nothing of it is held beyond."""
    ident = threading.get_ident()
    callee = _callee(caller) if event == "return" else None
    stood = _Returned.stood.pop(ident, ())
    if (
        callee is not None
        and callee.f_code.co_code[callee.f_lasti] in _RETURNS  # else it raises, or yields
        and _ids(callee) in stood
    ):
        name = callee.f_code.co_name if _ids(callee) == stood[0] else _whole_name(callee)
        _Returned.values[ident] = (name, value)
    _Returned.stood[ident] = tuple(map(_ids, _outwards(caller)))
    try:
        yield
    finally:
        _Returned.values.pop(ident, None)


def asked(expression: str) -> Any:
    """What ``expression`` stands for, be it the name or the value; ``LookupError`` where nothing has returned here."""
    name, value = _Returned.values[threading.get_ident()]
    return {RETURNED: value, RETURNED_BY: name}[expression]


def _whole_name(frame: FrameType) -> str:
    """The name of a library's function, with its module: it may be called as the user's that it has called.

    ``torch.Tensor.backward`` returns behind the ``backward`` of a user's that a step began in.
    """
    module = frame.f_globals.get("__name__")
    own = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)  # Python 3.11 on
    return f"{module}.{own}" if isinstance(module, str) else own


def _ids(frame: FrameType) -> tuple[int, int]:
    return id(frame), id(frame.f_code)


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _callee(caller: FrameType) -> FrameType | None:
    """The frame of this thread's stack that ``caller`` has called: it is about to end."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_back is not caller:
        frame = frame.f_back
    return frame
