"""Names of ops and autograd nodes that nothing has: what an ended program says of a place with such a name."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMED = "Nodes are named as torch does: MulBackward0."


def unknown(kind: str, name: str) -> str:
    """An error with its remedy, in lines, about a name that torch does not know; empty where it knows one."""
    return _unknown_op(name) if kind == "op" else _unknown_node(name)


def _unknown_op(name: str) -> str:
    from pyharness.native.breakpoints import known_ops, op_pattern

    try:
        pattern = op_pattern(name)
    except UsageError as error:
        return str(error)
    known = known_ops()
    if any(fnmatchcase(each, pattern) or each.partition(".")[0] == pattern for each in known):
        return ""
    return str(UsageError(f"No op matches {name!r}.", nearest(pattern, (each.partition(".")[0] for each in known))))


def _unknown_node(name: str) -> str:
    """What is said once no such node has run: only C++ code of the user's may have others, which torch cannot list."""
    known = sorted(_known_nodes())
    if any(fnmatchcase(each, name) or fnmatchcase(f"torch::autograd::{each}", name) for each in known):
        return ""
    return str(
        UsageError(
            f"No node {name!r} ran, and torch knows none of that name.", nearest(name, known, alike=0.75) or _NAMED
        )
    )


def _known_nodes() -> set[str]:
    import torch

    named = {each for each in dir(torch._C._functions) if not each.startswith("__")}
    return {"GraphRoot", *named, *(f"{each.__name__}Backward" for each in _below(torch.autograd.Function))}


def _below(base: type) -> Iterator[type]:
    below: list[type] = type.__subclasses__(base)
    for each in below:
        yield each
        yield from _below(each)
