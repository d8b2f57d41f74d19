"""What the inputs of a captured graph are: a parameter's path, a local variable, the gradient of an output.

Dynamo makes parameters inputs of its graph and AOT autograd numbers them (``primals_4``): both know what stands behind.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyharness.fx import provenance
from pyharness.fx.code.mapping import INPUT
from pyharness.model.places import SAVED

if TYPE_CHECKING:
    from torch.fx import GraphModule, Node

    from pyharness.model.results.compiled import Kind

_LOCAL = re.compile(r"^[LG]\[['\"](\w+)['\"]\]")
_ATTRIBUTE = re.compile(r"\._(?:parameters|buffers)(?=\[)")


def name_captured(module: GraphModule) -> None:
    """Note on each input of Dynamo's graph what it is in the user's terms."""
    for node in _inputs(module):
        source = getattr(getattr(node, "_dynamo_source", None), "name", None)
        source = source() if callable(source) else source
        if isinstance(source, str):
            node.meta[INPUT] = plain_source(source)


def plain_source(source: str) -> str:
    """``blocks.0.norm.weight`` of ``L['self']._modules['blocks']...``; ``x.size()[0]`` of ``L['x'].size()[0]``."""
    if _ATTRIBUTE.search(source) or "._modules[" in source:
        return provenance.plain_path(_ATTRIBUTE.sub("", source))
    return _LOCAL.sub(r"\1", source)


def name_lowered(module: GraphModule, captured: GraphModule, kind: Kind) -> None:
    """Note on each input of an AOT graph which input of ``captured`` it is, with its origin.

    What a backward graph gets from its forward has the name that it has there.
    """
    originals = _inputs(captured)
    for node in _inputs(module):
        described = node.meta.get("desc")
        family = type(described).__name__
        number = getattr(described, "idx", None)
        if family == "PlainAOTInput" and isinstance(number, int) and number < len(originals):
            node.meta[INPUT] = originals[number].meta.get(INPUT, originals[number].name)
            node.meta[provenance.KEY] = tuple(provenance.of(originals[number]))
        elif family == "TangentAOTInput":
            node.meta[INPUT] = f"gradient of {_output(described)}"
        elif described is None and kind == "backward":
            node.meta[INPUT] = f"{SAVED}{node.name}"


def _output(described: Any) -> str:
    number = getattr(getattr(described, "output", None), "idx", None)
    return "an output" if number is None else f"output {number}"


def _inputs(module: GraphModule) -> list[Node]:
    return [node for node in module.graph.nodes if node.op == "placeholder"]
