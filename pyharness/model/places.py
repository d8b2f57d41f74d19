"""Where a breakpoint named by an FX node or a module path lands in a generated file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.model.source_map import MappedLine, SourceMap

KINDS = ("fx", "op")
"""Kinds of places that lie in generated code."""
SAVED = "saved "
"""How the target of a backward graph's input begins that is a node of the forward graph, where the name belongs."""
OPS = frozenset({"call_function", "call_method", "call_module"})
"""Nodes that compute something."""


def find(source_map: SourceMap, where: str) -> MappedLine | None:
    """The statement that ``where`` names, or ``None``.

    ``where`` is the name of a node, or a module path: the first op node that this module made itself, else the first
    that a module below it made. Else it is a node of Dynamo's graph: the first that inductor made of that one.
    """
    below = f"{where}." if where else ""
    return (
        _first(source_map, lambda entry: entry.node == where and not entry.target.startswith(SAVED))
        or _first(source_map, lambda entry: entry.op in OPS and entry.module == where)
        or _first(source_map, lambda entry: entry.op in OPS and (entry.module or "").startswith(below))
        or _first(source_map, lambda entry: where in entry.captured[:1])
        or _first(source_map, lambda entry: where in entry.captured)
    )


def statements(source_map: SourceMap, kind: str, name: str) -> list[MappedLine]:
    """The statements that a place of ``kind`` (of ``KINDS``) means."""
    if kind == "op":
        return calls_of(source_map, name)
    entry = find(source_map, name)
    return [entry] if entry else []


def names(source_map: SourceMap, kind: str) -> tuple[str, ...]:
    """Every name that ``statements`` takes."""
    return known_ops(source_map) if kind == "op" else known_names(source_map)


def calls_of(source_map: SourceMap, op: str) -> list[MappedLine]:
    """The statements that call ``op``: ``NAMESPACE::NAME`` of the dispatcher, or a function's bare or dotted name."""
    wanted = tuple(op.replace("::", ".").split("."))
    return [entry for entry in source_map.lines if entry.op in OPS and _is_called(entry.target, wanted)]


def _is_called(target: str, wanted: tuple[str, ...]) -> bool:
    """Whether a target such as ``torch.ops.aten.mul.Tensor`` ends in ``wanted``, with its overload or without."""
    parts = tuple(target.split("."))
    ends = [parts, parts[:-1]] if parts[:2] == ("torch", "ops") else [parts]
    return any(end[-len(wanted) :] == wanted for end in ends)


def known_ops(source_map: SourceMap) -> tuple[str, ...]:
    """The names that ``calls_of`` takes, as the dispatcher writes them where it knows the op."""
    targets = dict.fromkeys(entry.target for entry in source_map.lines if entry.op == "call_function")
    return tuple(
        dict.fromkeys("::".join(name.split(".")[2:4]) if name.startswith("torch.ops.") else name for name in targets)
    )


def known_names(source_map: SourceMap) -> tuple[str, ...]:
    """Every name that ``find`` takes: nodes, module paths with the modules above them, nodes of Dynamo's graph."""
    names = dict.fromkeys(entry.node for entry in source_map.lines)
    for path in dict.fromkeys(entry.module for entry in source_map.lines if entry.op in OPS and entry.module):
        parts = path.split(".")
        names.update(dict.fromkeys(".".join(parts[: count + 1]) for count in range(len(parts))))
    names.update(dict.fromkeys(name for entry in source_map.lines for name in entry.captured))
    return tuple(names)


def _first(source_map: SourceMap, matches: Callable[[MappedLine], bool]) -> MappedLine | None:
    return next((entry for entry in source_map.lines if matches(entry)), None)
