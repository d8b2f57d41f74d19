"""The torch.fx node of a generated line that runs now, for a ``forward`` that has no file of ours.

A chain of calls (csrc/engine/provenance/provenance.h) knows the modules that were called as modules; torch.compile's
backends call the ``forward`` of a GraphModule directly, so it is looked up in the live frame.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyharness.model.results.trace import Call, origin_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_FRAME = re.compile(r'File "(.+)", line (\d+), in (.+)')


def with_nodes(calls: tuple[Call, ...]) -> tuple[tuple[Call, ...], Call | None]:
    """The calls of this thread with their nodes, and the user's line that the innermost generated one was made from."""
    frames = {(frame.f_code.co_filename, frame.f_lineno): frame for frame in _frames(sys._getframe(1))}  # noqa: SLF001
    found: list[Call] = []
    made_from: Call | None = None
    for call in calls:
        node = _node_at(frames.get((call.file, call.line)))
        if node is None:
            found.append(call)
            continue
        made_from = made_from or _users_line(node)
        module = call.module if call.node else _module_of(node, call.module)
        found.append(replace(call, node=call.node or node.name, module=module))
    return tuple(found), made_from


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _node_at(frame: FrameType | None) -> Any:
    """The ``fx.Node`` whose statement the frame is at; ``None`` where it is no generated ``forward``."""
    module = frame.f_locals.get("self") if frame is not None and frame.f_code.co_name == "forward" else None
    numbers = getattr(module, "_lineno_map", None)
    if frame is None or not numbers or getattr(module, "graph", None) is None:
        return None
    number = numbers.get(frame.f_lineno - (getattr(module, "_prologue_start", 0) or 0))
    nodes = list(module.graph.nodes) if module is not None else []
    return nodes[number] if number is not None and number < len(nodes) else None


def _users_line(node: Any) -> Call | None:
    """The innermost of the user's lines in what torch noted when it traced; of a backward's node, of its forward's."""
    places = _FRAME.findall(node.meta.get("stack_trace") or "")
    return origin_of(tuple(Call(file, int(line), function) for file, line, function in reversed(places)))


def _module_of(node: Any, otherwise: str | None) -> str | None:
    """Path of the module that the traced program was in; of a backward's node, that its forward was in."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    paths = [str(each[0]) for each in stack.values()]
    return paths[-1] if paths else otherwise
