"""What an autograd node expands into, as far as both halves of the debugger agree on it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.model.user_code import is_user_source
from pyharness.model.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PLACE = re.compile(r'File "([^"\n]+)", line (\d+)')
_REMEDY = "torch.autograd.set_detect_anomaly(True) has torch record it"


def sequence_variable(number: int | None) -> Variable:
    """The number by which a node is matched with its forward op."""
    if number is None:
        return Variable("sequence_number", "<none>", note="it belongs to no forward op")
    return Variable("sequence_number", str(number))


def origin_in(traceback: Iterable[str]) -> str | None:
    """``FILE:LINE`` of the innermost line of the user's in a traceback, as ``traceback.format_stack`` gives it."""
    places = [(found[1], found[2]) for entry in traceback for found in _PLACE.finditer(entry)]
    users = [f"{file}:{line}" for file, line in places if is_user_source(file)]
    return users[-1] if users else None


def created_variable(origin: str | None) -> Variable:
    """The line of the forward that made the node."""
    if origin is None:
        return Variable("created", "<not recorded>", note=_REMEDY)
    return Variable("created", origin, link=origin)


def input_variable(index: int, dtype: str, sizes: Sequence[int]) -> Variable:
    """The gradient that a node wants: that of the output of this number."""
    return Variable(f"[{index}]", f"{dtype} {list(sizes)}")
