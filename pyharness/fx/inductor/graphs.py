"""What is told of a graph that inductor lowers: its nodes, what kind it is, how much its kernels read and write."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyharness.fx import provenance
from pyharness.fx.code.mapping import target_of
from pyharness.fx.inductor.loops import printed, sizes_taken
from pyharness.model.kernel_map import GraphNode, KernelBuffer

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from torch.fx import Node

    from pyharness.model.kernel_map import GraphKind


def kind_of(lowered: Any) -> GraphKind:
    """What AOT autograd made the graph for."""
    if lowered.is_backward:
        return "backward"
    return "inference" if lowered.is_inference else "forward"


def nodes_of(scheduled: Iterable[Any], lowered: Any, earlier: Container[str] = ()) -> tuple[Node, ...]:
    """The nodes of the graph that nodes of the scheduler compute, in the graph's order.

    With a template, all that its inputs came from is said to be its own: what ``earlier`` kernels compute is not.
    """
    parts = tuple(scheduled)
    others = earlier if any(map(_is_template, parts)) else ()
    origins = [node for each in parts for node in getattr(each.node, "origins", ()) or ()]
    wanted = {node for node in origins if node.op == "call_function" and node.name not in others}
    ordered = [node for node in lowered.graph.nodes if node in wanted]
    return (*ordered, *sorted(wanted.difference(ordered), key=lambda node: node.name))


def template_of(scheduled: Iterable[Any], lowered: Any, earlier: Container[str]) -> str | None:
    """The node that a template among them computes; ``None`` where there is none."""
    own = [node for each in scheduled if _is_template(each) for node in nodes_of([each], lowered, earlier)]
    return own[-1].name if own else None


def _is_template(scheduled: Any) -> bool:
    return bool(getattr(scheduled, "is_template", bool)())


def bytes_of(arguments: Any, lowered: Any) -> int | None:
    """The size of the tensors that a kernel reads and writes; ``None`` where it depends on shapes."""
    changed = [each.other_names[-1] for each in _changed(arguments)]
    read = [name for name in arguments.input_buffers if name not in arguments.inplace_buffers]
    written = [name for name, inner in arguments.output_buffers.items() if isinstance(inner, str)]
    total = 0
    for name in (*read, *written, *dict.fromkeys(changed), *dict.fromkeys(changed)):
        if name in lowered.name_to_buffer or name in lowered.graph_inputs:
            total += lowered.get_numel(name) * lowered.get_dtype(name).itemsize
    return int(total) if getattr(total, "is_number", True) else None


def _changed(arguments: Any) -> Iterator[Any]:
    """Each buffer that a kernel writes in the place of what it reads, once."""
    found = {id(each): each for each in arguments.inplace_buffers.values() if hasattr(each, "other_names")}
    yield from found.values()


def buffers_of(arguments: Any, lowered: Any) -> Iterator[KernelBuffer]:
    """What a kernel's pointers point to; not those of which this cannot be told."""
    own = {**arguments.input_buffers, **arguments.output_buffers}
    pointers = {name: pointer for name, pointer in own.items() if name not in arguments.inplace_buffers}
    pointers |= {each.other_names[-1]: each.inner_name for each in _changed(arguments)}
    names = sizes_taken(arguments)
    for name, pointer in pointers.items():
        known = lowered.name_to_buffer.get(name, lowered.graph_inputs.get(name))
        if known is not None and isinstance(pointer, str):
            with suppress(NotImplementedError, AttributeError):  # torch's way to say that something is no tensor
                sizes, strides = (printed(each, names) for each in (known.get_size(), known.get_stride()))
                yield KernelBuffer(pointer, str(known.get_dtype()).removeprefix("torch."), sizes, strides)


def described(node: Node) -> GraphNode:
    """A node as a map has it."""
    module, file, line = provenance.of(node)
    return GraphNode(node.name, target_of(node), module, file, line, _captured(node), _shape(node))


def _shape(node: Node) -> tuple[int | None, ...] | None:
    """The sizes of what it computes; one of a symbol is not asked: that would make a guard of it."""
    sizes = getattr(node.meta.get("val"), "shape", None)
    return None if sizes is None else tuple(size if isinstance(size, int) else None for size in sizes)


def _captured(node: Node) -> str | None:
    """What the user called, by torch's name for that call; of a gradient, what the forward node came from."""
    for key in ("source_fn_stack", "fwd_source_fn_stack"):
        if name := source_of(node, key):
            return name
    chain, last = node.meta.get("from_node"), None
    while isinstance(chain, list) and chain:
        last = chain[-1]
        chain = getattr(last, "from_node", None)
    name = getattr(last, "name", None)
    return name if isinstance(name, str) else None


def source_of(node: Node, key: str = "source_fn_stack") -> str | None:
    """The name of the call that a node of Dynamo's graph is: unique there, and not made of a variable's name."""
    stack = provenance.noted(node, key, list)
    name = stack[-1][0] if stack and isinstance(stack[-1], tuple) else None
    return name if isinstance(name, str) else None
