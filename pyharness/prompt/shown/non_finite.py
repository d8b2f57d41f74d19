"""Which tensors of a frame have NaN or infinities, and of which that cannot be said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.debugger.frame_variables import variables_of
from pyharness.model.frozen import frozen
from pyharness.prompt.shown.expanding import parts, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.prompt.session import Session
    from pyharness.prompt.shown.expanding import Part

_TENSOR = re.compile(r"Tensor|\b(?!ndarray\b)[\w:]+ (?:u?int|b?float|complex|bool)\w* \[")
"""How the line of a tensor begins, and that of an array of another library, which has its class there."""
_KINDS = ("NaN", "Inf")
_UNREAD = re.compile(r"(?<!grad_fn=)<([^<>]+)>$")
"""Why the elements of a tensor are not shown, behind what it is."""
_DEPTH = 2
"""Containers within containers that are looked into."""


@frozen
class Counted:
    """What was found in one tensor."""

    name: str
    found: tuple[str, ...] = ()
    """``3 NaN``, ``1 Inf``."""
    lacking: str = ""
    """Why it was not read, or not whole; empty where it was."""

    @property
    def is_clean(self) -> bool:
        """Whether all of it was read, and is finite."""
        return not self.found and not self.lacking


def of_frame(session: Session) -> list[Counted]:
    """All tensors of the frame that is looked at, those in its lists, tuples and dictionaries as well."""
    variables = variables_of(session.shell, session.where.shown)
    named = [each.name for each in variables if _TENSOR.search(each.value)]
    return [each for name in named for each in _within(session, name, whole(session, name), _DEPTH)]


def _within(session: Session, name: str, part: Part, depth: int) -> Iterator[Counted]:
    if _TENSOR.match(part.value):
        yield _counted(session, name, part)
    elif depth and _TENSOR.search(part.value):
        for each in parts(session, part):
            inner = each.name if each.name.startswith("[") else f"[{each.name}]"
            yield from _within(session, f"{name}{inner}", each, depth - 1)


def _counted(session: Session, name: str, tensor: Part) -> Counted:
    statistics = [part for part in parts(session, tensor) if part.name == "statistics"]
    counts = {each.name: each.value for part in statistics for each in parts(session, part)}
    found = tuple(f"{counts[kind]} {kind}" for kind in _KINDS if counts.get(kind, "0") != "0")
    lacking = f"only {counts['counted']} were looked at" if "counted" in counts else ""
    if not statistics and (unread := _UNREAD.search(tensor.value)):
        lacking = f"not looked at ({unread[1]})"
    return Counted(name, found, lacking)
