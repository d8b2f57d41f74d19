"""Gives the nodes that a transform made the provenance and the tags of those that they stand for."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.fx.tracing.tags import inherit, is_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.fx import GraphModule, Node


@contextmanager
def replacements(module: GraphModule) -> Iterator[dict[str, Node]]:
    """Whom each new node of ``module`` replaces, by its name, while the block runs."""
    replaced: dict[str, Node] = {}

    def note(old: Node, new: str, user: Node) -> None:
        del user
        replaced[new] = old

    if not hasattr(module, "_set_replace_hook"):  # another torch
        yield replaced
        return
    with module._set_replace_hook(note):  # noqa: SLF001
        yield replaced


def settle(made: list[Node], replaced: dict[str, Node]) -> None:
    """Let each of the nodes that were ``made`` inherit from whom it replaces, else from a new one that uses it."""
    new = set(made)
    for node in reversed(made):
        if not is_known(node):
            heirs = (user for user in node.users if user in new and is_known(user))
            ancestor = replaced.get(node.name) or next(heirs, None)
            if ancestor is not None:
                inherit(node, ancestor)
