"""What a node is by its graph alone: what it takes, what it computes, what is done with its value."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from torch.fx import Node
from torch.fx.node import map_arg

from pyharness.fx.code.mapping import target_of
from pyharness.fx.verifying.values import leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def inputs(node: Node) -> dict[str, Node]:
    """The nodes that ``node`` takes, by place."""
    return {path: value for path, value in arguments(node).items() if isinstance(value, Node)}


def arguments(node: Node) -> dict[str, Any]:
    """All that ``node`` is called with, by place: ``[0]``, ``[1][0]``, ``dim``."""
    found = dict(leaves(node.args))
    for name, value in node.kwargs.items():
        found.update(leaves(value, name))
    return found


def word(node: Node) -> tuple[str, str]:
    """The op that is called, in a word: ``sin`` of ``torch.sin``, ``Tensor.sin`` and ``aten.sin.default``."""
    if not node.op.startswith("call_") or node.op == "call_module":
        return node.op, "" if node.op == "output" else str(node.target)
    name = getattr(node.target, "_opname", None) or getattr(node.target, "__name__", None) or str(node.target)
    return "call", str(name).split(".")[0]


def call(node: Node) -> tuple[object, ...]:
    """What is called, and how."""
    return (node.op, node.target)


def meanings(nodes: Iterable[Node], known: Mapping[Node, str]) -> dict[Node, str]:
    """What each node computes, as text: equal for nodes that do the same with inputs that mean the same."""
    found = dict(known)

    def term(node: Node) -> Term:
        return Term(found.get(node, node.name))

    for node in nodes:
        args, kwargs = map_arg((node.args, node.kwargs), term)
        text = repr((node.op, _named(node), args, sorted(kwargs.items())))
        found[node] = hashlib.sha256(text.encode()).hexdigest()
    return found


def _named(node: Node) -> str:
    """The call as text; an input is itself and nothing else."""
    if node.op == "placeholder":
        return node.name
    return node.target if isinstance(node.target, str) else f"{target_of(node)} {id(node.target)}"


class Term(str):
    """Text that stands for a node in an argument list."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


_DEPTH = 5
"""Users of users that are looked at where several nodes compute the same."""


def uses(nodes: Sequence[Node]) -> dict[Node, list[Counter[object]]]:
    """What is done with each value: for each depth, the users, told apart by what is done with theirs up to there.

    (The refinement of colours of Weisfeiler and Leman, 1968, along users.)
    """
    colours: dict[Node, object] = {node: word(node) for node in nodes}
    found: dict[Node, list[Counter[object]]] = {node: [] for node in nodes}
    for _ in range(_DEPTH):
        for node in nodes:
            found[node].append(Counter(colours[user] for user in node.users))
        colours = {node: hash((word(node), frozenset(found[node][-1].items()))) for node in nodes}
    return found


def likeness(one: list[Counter[object]], other: list[Counter[object]]) -> int:
    """How much of what ``uses`` found for two nodes is the same."""
    return sum((mine & theirs).total() for mine, theirs in zip(one, other, strict=True))
