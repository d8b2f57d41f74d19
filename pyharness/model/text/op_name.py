"""The dispatcher's name of an op, from how Python spells it."""

from __future__ import annotations

import re

_OURS = {"torch", "operator", "math", "F", "functional", "nn", "Tensor"}
"""What stands before a function of Python whose op, mostly, is one of aten's."""


def op_name(spelled: str) -> str:
    """A guess: ``aten::relu`` for ``relu``, ``torch.relu``, ``aten.relu`` and ``torch.ops.aten.relu.default``."""
    if "::" in spelled:
        return spelled
    namespace, _, rest = re.sub(r"^(torch\.)?_?ops\.", "", spelled).partition(".")
    if not rest or namespace in _OURS:
        return f"aten::{spelled.rpartition('.')[2]}"
    return f"{namespace}::{rest.partition('.')[0]}"
