"""What it costs to keep the outputs of all modules, and how many of them one has then: ours, bare hooks, libraries.

A run attaches the hooks, runs forward and removes them, as one does. Found are the tensors that modules of awkward
models returned, with the values that they had then.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING

import torch

from benchmarks.activations import libraries, models, truth
from benchmarks.differentiating.processor import on_the_processor
from benchmarks.peers import bring
from benchmarks.table import Check, Row, Table, ratio, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 101
FEWER = 50
"""Runs of torchlens, hundreds of times slower."""
LIMIT = 1.05
"""The limit, as a multiple of bare hooks: what two runs of the same thing differ by."""


def run(runs: int = RUNS) -> Table:
    """Time every library, then count what each finds."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    warnings.filterwarnings("ignore")
    missing = bring("activations")
    rows: list[Row] = []
    checks: list[Check] = []
    for name, make in models.TIMED.items():
        more_rows, more_checks = _times(name, make, runs, with_peers=not missing)
        rows += more_rows
        checks += more_checks
    more_rows, more_checks = _found(with_peers=not missing)
    return Table("capture", (*rows, *more_rows), (*checks, *more_checks), (missing,) if missing else ())


def _times(name: str, make: models.Model, runs: int, *, with_peers: bool) -> tuple[list[Row], list[Check]]:
    model, x = make()
    subjects: dict[str, Callable[[], object]] = {
        "no hooks": lambda: model(x),
        libraries.BARE: partial(libraries.bare, model, x),
        libraries.OURS: partial(libraries.ours_unread, model, x),
        libraries.STATISTICS: partial(libraries.ours_unread, model, x, statistics=True),
    }
    subjects |= {libraries.EXTRACTOR: partial(libraries.extractor, model, x)} if with_peers else {}
    seconds = on_the_processor(subjects, runs, warmups=3)
    rows = list(rows_of(name, seconds))
    checks = [
        Check(f"{name}: {libraries.OURS} / {libraries.BARE}", ratio(seconds, libraries.OURS, libraries.BARE), LIMIT)
    ]
    if with_peers:
        against = ratio(seconds, libraries.OURS, libraries.EXTRACTOR)
        checks.append(Check(f"{name}: {libraries.OURS} / {libraries.EXTRACTOR}", against, LIMIT))
        rows += rows_of(
            name, on_the_processor({libraries.LENS: partial(libraries.lens, model, x)}, max(2, runs // FEWER))
        )
    return rows, checks


def _found(*, with_peers: bool) -> tuple[list[Row], list[Check]]:
    ways: dict[str, libraries.Library] = {
        libraries.OURS: libraries.ours,
        libraries.COPIES: partial(libraries.ours, copy=True),
        libraries.BARE: libraries.bare,
    }
    ways |= {libraries.EXTRACTOR: libraries.extractor} if with_peers else {}
    rows: list[Row] = []
    counts = dict.fromkeys(ways, 0)
    total = 0
    for name, make in models.AWKWARD.items():
        torch.manual_seed(0)
        model, x = make(), torch.randn(2, 8)
        real = truth.returned(model, x)
        total += len(real)
        for way, library in ways.items():
            count = truth.found(real, model, libraries.tensors(library(model, x)))
            counts[way] += count
            rows.append(Row(f"{name}: found of {len(real)}", way, count, "tensors", 1))
    others = max(count for way, count in counts.items() if way in {libraries.BARE, libraries.EXTRACTOR})
    return rows, [
        Check(
            f"awkward models: found of {total} by {libraries.COPIES}", counts[libraries.COPIES], total, at_least=True
        ),
        Check(
            f"awkward models: found by {libraries.OURS}, the best other {others}",
            counts[libraries.OURS],
            others + 1,
            at_least=True,
        ),
    ]
