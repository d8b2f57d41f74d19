"""Equal beginnings of many paths as one tree, each node with who goes through it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Generic, TypeVar

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

T = TypeVar("T")


@frozen
class Node(Generic[T]):
    """One step of a path; ``label`` is ``None`` at the root."""

    label: T | None
    members: tuple[int, ...]
    children: tuple[Node[T], ...] = field(default=())


def prefix_tree(paths: Iterable[tuple[int, Sequence[T]]]) -> Node[T]:
    """One tree of the paths of all members; children in the order of their first members."""
    return _node(None, [(member, list(path)) for member, path in paths])


def _node(label: T | None, paths: list[tuple[int, list[T]]]) -> Node[T]:
    groups: dict[Hashable, list[tuple[int, list[T]]]] = {}
    for member, path in paths:
        if path:
            groups.setdefault(path[0], []).append((member, path[1:]))
    children = tuple(_node(first, rest) for first, rest in groups.items())
    return Node(label, tuple(member for member, _ in paths), children)
