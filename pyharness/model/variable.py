"""A variable, and the scopes that variables lie in, as both halves of the debugger show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from pyharness.model.frames import FxPlace
    from pyharness.model.source_map import MappedLine


@frozen
class Variable:
    """One line of a variables view."""

    name: str
    value: str
    type: str = ""
    handle: int = 0
    """What to ask for its children with, 0 where it has none."""
    named: int = 0
    """Children that have names: attributes, fields."""
    indexed: int = 0
    """Children that are counted, after the named ones: elements."""
    memory: str | None = None
    """Address of its bytes, such as ``0x7f00``: of a tensor its first element, of a pointer what it points to."""
    evaluate: str | None = None
    """The expression that gives it again in its frame."""
    link: str | None = None
    """``FILE:LINE`` of the source that made it."""
    note: str | None = None
    """Why it cannot be shown, or not all of it."""


@frozen
class Scope:
    """A group of a frame's variables."""

    name: str
    """Arguments, Locals, Registers or Globals."""
    handle: int
    expensive: bool = False
    """Not to be opened unasked."""
    count: int | None = None
    """How many variables, ``None`` where counting them is the work."""
    variables: tuple[Variable, ...] | None = None
    """Variables of the first scope, which clients open by themselves; ``None`` where they were not read."""


def fx_scope(place: FxPlace, entry: MappedLine | None = None) -> list[Variable]:
    """What torch.fx knows of a generated line, for a scope of its own: node, op, target, module, the user's line."""
    shown = [Variable("node", place.node, "fx.Node")]
    if entry is not None:
        shown += [Variable("op", entry.op), Variable("target", entry.target)]
    if place.module is None:
        shown.append(Variable("module", "<not recorded>", note="torch recorded no module for this node"))
    else:
        shown.append(Variable("module", place.module or "<root>"))
    if place.origin is None:
        remedy = "trace with pyharness.fx, or run under the harness, which records it"
        shown.append(Variable("origin", "<not recorded>", note=f"no source line was recorded: {remedy}"))
    else:
        shown.append(Variable("origin", place.origin, link=place.origin))
    return shown
