"""From a node that errs to the fault that a user reads: its generated line, its module, sizes and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.fx import GraphModule

from pyharness.fx import provenance
from pyharness.fx.code import files
from pyharness.fx.code.mapping import target_of
from pyharness.fx.code.materializing import materialize
from pyharness.model.errors import HarnessError
from pyharness.model.results.verdict import Fault

if TYPE_CHECKING:
    from torch.fx import Node

    from pyharness.fx.verifying.causes import Cause
    from pyharness.fx.verifying.replay import Replay, Root


def fault(root: Root, replay: Replay, cause: Cause) -> Fault:
    """What is known of ``root``."""
    return placed(
        replay.module,
        root.node,
        kind=cause.kind,
        reason=cause.reason,
        difference=replay.measured(root),
        counterpart=root.counterpart.name,
        missing=cause.missing.name if cause.missing else None,
        seen_at=root.users[0].name if root.users else None,
        through=tuple(each.name for each in root.through),
    )


def placed(module: GraphModule, node: Node, **known: Any) -> Fault:
    """A fault with the places of ``node``; the rest of its fields are ``known``."""
    file, line = _line(module, node)
    path, origin_file, origin_line = provenance.of(node)
    return Fault(
        node=node.name,
        op=node.op,
        target=target_of(node),
        module=path,
        file=file,
        line=line,
        origin_file=origin_file,
        origin_line=origin_line,
        **known,
    )


def _line(module: GraphModule, node: Node) -> tuple[str, int | None]:
    """The node's line in a generated file: the one that the module runs, else one made of a copy of it."""
    present = files.FILES.get(module)
    if present is None or present.text != module.code:
        present = _made(module)
    rows = present.source_map.lines if present else ()
    row = next((row for row in rows if row.node == node.name), None)
    return (present.path, row.line) if present and row else ("", None)


def _made(module: GraphModule) -> files.GeneratedFile | None:
    """The user's own module is left as it is."""
    try:
        copy = GraphModule(module, module.graph, type(module).__name__)
        materialize(copy)
    except (HarnessError, RuntimeError, AttributeError, TypeError):
        return None
    return files.FILES.get(copy)
