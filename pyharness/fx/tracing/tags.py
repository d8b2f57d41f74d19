"""Tags on nodes, kept where torch keeps annotations, so that whatever copies a node copies them.

``node.meta["custom"]`` is what ``torch.fx.traceback.annotate`` writes, and what ``Transformer``, ``torch.export`` and
AOT autograd carry from node to node. The copies of a node share the dict: it is replaced here, never changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.fx import traceback

from pyharness.fx.provenance import KEY, noted
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager
    from typing import TypeAlias

    from torch.fx import Node

    Tagger: TypeAlias = Callable[[Node], Mapping[str, Any] | None]
    """Called with each node as it is created, its provenance known."""
    Taggers: TypeAlias = Tagger | Iterable[Tagger]

FIELD = "custom"
_INHERITED = (KEY, FIELD, "nn_module_stack", "stack_trace")


def tagged(**tags: Any) -> AbstractContextManager[None]:
    """Every node that is made in the block gets these tags, by our ``Tracer`` or by one of our transforms.

    It may stand in a ``forward``, around ``trace(...)`` or around a transform. It is ``torch.fx.traceback.annotate``:
    ``torch.compile`` obeys it too, and ``torch.export`` does under ``torch.fx.traceback.preserve_node_meta()``. Values
    are plain data (they are pickled).
    """
    block: AbstractContextManager[None] = traceback.annotate(tags)
    return block


def tags_of(node: Node) -> dict[str, Any]:
    """The tags of ``node``, without our own record of where it came from."""
    return {name: value for name, value in (noted(node, FIELD, dict) or {}).items() if name != KEY}


def tag(node: Node, **tags: Any) -> None:
    """Add ``tags`` to ``node``."""
    node.meta[FIELD] = {**(noted(node, FIELD, dict) or {}), **tags}


def active() -> dict[str, Any]:
    """The tags of the blocks that are open."""
    return dict(traceback.current_meta.get(FIELD) or {})


def taggers(given: Taggers) -> tuple[Tagger, ...]:
    """One or many; ``UsageError`` for what is none."""
    found = (given,) if callable(given) else tuple(given)
    for each in found:
        if not callable(each):
            raise UsageError(
                f"{each!r} tags no nodes.", "Give a function that takes a node and returns a dict of tags."
            )
    return found


def record_tags(node: Node, taggers: Iterable[Tagger]) -> None:
    """Tag ``node``, just created, as the open blocks and ``taggers`` say, and note its provenance among the tags."""
    found = {**active(), **(noted(node, FIELD, dict) or {})}
    if KEY in node.meta:
        found.setdefault(KEY, node.meta[KEY])
    if found:
        node.meta[FIELD] = found
    for tagger in taggers:
        tag(node, **(tagger(node) or {}))


def is_known(node: Node) -> bool:
    """Whether anything of ours says where ``node`` came from."""
    return KEY in node.meta or KEY in (noted(node, FIELD, dict) or {})


def inherit(new: Node, old: Node) -> None:
    """``new`` stands for ``old``: it came from the same line of the same module, and has the same tags."""
    for name in _INHERITED:
        if name in old.meta and name not in new.meta:
            new.meta[name] = old.meta[name]
