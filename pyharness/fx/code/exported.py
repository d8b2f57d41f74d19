"""What of torch.export can run: a program's module, named after the model that was exported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.fx import GraphModule


def runnable(program: Any, name: str = "") -> tuple[GraphModule, str]:
    """The module of an ``ExportedProgram``, and ``name`` or one made from its model's class.

    Raises ``TypeError`` for anything else.
    """
    from torch.export import ExportedProgram

    if not isinstance(program, ExportedProgram):
        kind = type(program).__name__
        raise TypeError(f"materialize takes a torch.fx.GraphModule or a torch.export.ExportedProgram, not {kind}")
    module: Any = program.module()
    return module, name or f"{_class_of(program.graph) or 'program'} exported"


def _class_of(graph: Any) -> str:
    """The name of the class that was exported: the outermost module of any node."""
    stacks = (node.meta.get("nn_module_stack") for node in graph.nodes)
    first = next((entry for stack in stacks if stack for entry in stack.values()), None)
    kind = first[1] if isinstance(first, tuple) and len(first) > 1 else ""
    return (kind if isinstance(kind, str) else kind.__name__).rpartition(".")[2]
