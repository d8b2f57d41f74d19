"""What a real file with a source map costs: ``recompile()`` alone against the same with a file, by size of graph."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import torch
from torch import fx

from benchmarks.table import Check, Row, Table, interleave, ratio, rows_of
from pyharness.fx import Tracer, materialize

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = (100, 1_000, 10_000, 100_000)
RUNS = 7
MOST = {100: 4.0}
"""Limit of materialize / recompile, where not 2: a small graph costs what it takes to make two files."""
LINEAR = 2.0
"""Time per node of the largest graph over that of one a tenth its size."""


class Chain(torch.nn.Module):
    """A model whose graph has ``size`` nodes, in blocks so that module paths differ."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block() for _ in range(size // Block.nodes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Any shape, the same shape."""
        for block in self.blocks:
            x = block(x)
        return x


class Block(torch.nn.Module):
    """Ten nodes."""

    nodes = 10

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Any shape, the same shape."""
        for _ in range(5):
            x = torch.relu(x) + 1.0
        return x


def run(runs: int = RUNS) -> Table:
    """Measure every size."""
    rows: list[Row] = []
    per_node: dict[int, float] = {}
    checks: list[Check] = []
    with tempfile.TemporaryDirectory() as home:
        os.environ["PYHARNESS_HOME"] = home
        for size in SIZES:
            seconds = _measure(size, min(runs, 3) if size >= SIZES[-1] else runs)
            measured = rows_of(f"{size} nodes", seconds)
            rows += measured
            per_node[size] = next(row.median for row in measured if row.subject == "materialize") / size
            what = f"materialize / recompile, {size} nodes"
            checks.append(Check(what, ratio(seconds, "materialize", "recompile"), MOST.get(size, 2.0)))
    growth = per_node[SIZES[-1]] / per_node[SIZES[-2]]
    checks.append(Check("time per node, 100,000 nodes / 10,000 nodes", growth, LINEAR))
    return Table("materialize", tuple(rows), tuple(checks))


def _measure(size: int, runs: int) -> dict[str, list[float]]:
    graph = Tracer().trace(Chain(size))
    plain, followed = fx.GraphModule(torch.nn.Module(), graph), fx.GraphModule(torch.nn.Module(), graph)
    fresh = _changes(followed)

    def changed() -> None:
        next(fresh)
        followed.recompile()

    materialize(followed)
    subjects = {"recompile": plain.recompile, "materialize": changed, "materialize, same code": followed.recompile}
    return interleave(subjects, runs)


def _changes(module: fx.GraphModule) -> Iterator[None]:
    """Change a constant each time, so that a new file is written."""
    node = next(node for node in module.graph.nodes if node.op == "call_function" and len(node.args) == 2)
    for value in range(2, 1_000_000):
        node.args = (node.args[0], float(value))
        yield
