"""Where a breakpoint named by an FX node or a module path lands in a generated file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.model.source_map import MappedLine, SourceMap

OPS = frozenset({"call_function", "call_method", "call_module"})
"""Nodes that compute something."""


def find(source_map: SourceMap, where: str) -> MappedLine | None:
    """The statement that ``where`` names, or ``None``.

    ``where`` is the name of a node, or a module path: the first op node that this module made itself, else the first
    that a module below it made.
    """
    below = f"{where}." if where else ""
    return (
        _first(source_map, lambda entry: entry.node == where)
        or _first(source_map, lambda entry: entry.op in OPS and entry.module == where)
        or _first(source_map, lambda entry: entry.op in OPS and (entry.module or "").startswith(below))
    )


def known_names(source_map: SourceMap) -> tuple[str, ...]:
    """Every name that ``find`` takes: nodes, then module paths with the modules above them."""
    names = dict.fromkeys(entry.node for entry in source_map.lines)
    for path in dict.fromkeys(entry.module for entry in source_map.lines if entry.op in OPS and entry.module):
        parts = path.split(".")
        names.update(dict.fromkeys(".".join(parts[: count + 1]) for count in range(len(parts))))
    return tuple(names)


def _first(source_map: SourceMap, matches: Callable[[MappedLine], bool]) -> MappedLine | None:
    return next((entry for entry in source_map.lines if matches(entry)), None)
