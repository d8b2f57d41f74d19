"""What the norm of a Jacobian costs, exact and estimated, and whether the estimate's error bars tell the truth.

Exact: the processor's time from the input to the number, forward pass included, and the memory of a large case; of
samples that do not influence one another, which the other ways take for granted and ours checks. Ours and the fastest
other way are compared over layouts of the heap; where all of it is a few milliseconds, the ratio is shown but not
checked. Estimated: probes of ours and of facebookresearch's estimator, and
how often a 95% interval of ours holds the truth.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import TYPE_CHECKING

import torch

from benchmarks.differentiating import cases, ways
from benchmarks.differentiating.layouts import LAYOUTS, ratio_over_layouts
from benchmarks.differentiating.peak import peak_bytes
from benchmarks.differentiating.processor import on_the_processor
from benchmarks.peers import bring
from benchmarks.table import Check, Row, Table, ratio, rows_of, take_turns
from benchmarks.watching.forked import copy_of_this_process
from pyharness.inspect import jacobian_norm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.differentiating.cases import Case
    from benchmarks.differentiating.ways import Way

RUNS = 25
MEMORY_RUNS = 5
LIMIT = 1.05
"""The limit, as a multiple of the fastest other way: what two equal runs differ by, in time and in memory."""
LARGE = 10_000
"""Numbers in an input from which on the time is that of the products."""
TRIALS = 1000
PROBES = 64
COVERAGE = 0.95, 0.02
AGREE = 1e-4
"""Relative, within which all ways must give the same number."""


def run(runs: int = RUNS) -> Table:
    """Measure everything."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    missing = bring("jacobian_regularizer")
    every = ways.exact(with_peer=not missing)
    rows: list[Row] = []
    checks: list[Check] = []
    for case in (*cases.small(), *cases.timed()):
        rows += _estimates(case, runs, with_peer=not missing)
        more_rows, check = _times(case, every, runs)
        rows += more_rows
        checks += [check] * (case.x.numel() >= LARGE)
    for more_rows, more_checks in (_memory(every), _coverage()):
        rows += more_rows
        checks += more_checks
    return Table("jacobian", tuple(rows), tuple(checks), (missing,) if missing else ())


def _times(case: Case, every: Mapping[str, Way], runs: int) -> tuple[list[Row], Check]:
    _agree(case, every)
    calls = {name: partial(way, case) for name, way in every.items()}
    seconds = on_the_processor(calls, runs)
    best = _fastest(seconds)
    compared = ratio_over_layouts({name: calls[name] for name in (ways.OURS, best)})
    what = f"exact, {case.name}"
    check = Check(f"{what}: {ways.OURS} / {best}", compared, LIMIT)
    return [*rows_of(what, seconds), Row(f"{what} / {best}", ways.OURS, compared, "x", LAYOUTS)], check


def _agree(case: Case, every: Mapping[str, Way]) -> None:
    values = {name: way(case) for name, way in every.items()}
    for name, value in values.items():
        assert abs(value / values[ways.LOOP] - 1) < AGREE, f"{name} gives {value} for {case.name}: {values}"


def _fastest(measured: Mapping[str, list[float]]) -> str:
    """The fastest of the other ways."""
    others = (name for name in measured if name not in {ways.OURS, ways.HELD})
    return min(others, key=lambda name: statistics.median(measured[name]))


def _memory(every: Mapping[str, Way]) -> tuple[list[Row], list[Check]]:
    """Each run in a process of its own: what one way left behind is no room for another one.

    Ours is as fast as it can be, or holds to the memory it is given: what takes no more than the fastest other way
    must be no slower.
    """
    case = cases.large()
    every = {**every, ways.HELD: ways.ours_held}
    times = on_the_processor({name: partial(way, case) for name, way in every.items()}, MEMORY_RUNS)
    best = _fastest(times)
    measured = take_turns({name: partial(_peak_in_a_copy, way, case) for name, way in every.items()}, MEMORY_RUNS, 0)
    what = f"exact, {case.name}"
    rows = [
        Row(f"{what}: memory", name, statistics.median(each) / (1 << 20), "MiB", len(each))
        for name, each in measured.items()
    ]
    small = ways.OURS if ratio(measured, ways.OURS, best) <= LIMIT else ways.HELD
    return [*rows_of(what, times), *rows], [
        *(
            Check(f"{what}: {name} / {best}", ratio(times, name, best), LIMIT)
            for name in dict.fromkeys((ways.OURS, small))
        ),
        Check(f"{what}: memory of {small} / {best}", ratio(measured, small, best), LIMIT),
    ]


def _peak_in_a_copy(way: Way, case: Case) -> float:
    with copy_of_this_process(lambda: None, lambda: peak_bytes(partial(way, case))) as ask:
        return ask()


def _estimates(case: Case, runs: int, *, with_peer: bool) -> list[Row]:
    """Times of as many probes."""
    rows: list[Row] = []
    for probes in (1, 16):
        subjects: dict[str, Callable[[], object]] = {
            ways.OURS: partial(jacobian_norm, case.module, case.x, probes=probes)
        }
        subjects |= {ways.PEER: partial(ways.peer, case, probes)} if with_peer else {}
        rows += rows_of(f"{probes} probes, {case.name}", on_the_processor(subjects, runs))
    return rows


def _coverage() -> tuple[list[Row], list[Check]]:
    """How often the interval of an estimate holds the exact number: with so many probes, and stopped at an error."""
    case = cases.mlp(64, 64, 128, 32)
    true = float(jacobian_norm(case.module, case.x, per_sample=True))
    generator = torch.Generator().manual_seed(0)
    rows: list[Row] = []
    checks: list[Check] = []
    for name, options in (
        (f"{PROBES} probes", {"probes": PROBES}),
        (f"{PROBES} Gaussian probes", {"probes": PROBES, "distribution": "gaussian"}),
        ("stopped at 2%", {"rtol": 0.02}),
    ):
        found = [
            jacobian_norm(case.module, case.x, per_sample=True, generator=generator, **options) for _ in range(TRIALS)
        ]
        covered = sum(low <= true <= high for low, high in (each.interval() for each in found)) / TRIALS
        errors = [each.standard_error or 0.0 for each in found]
        bias = (statistics.fmean(map(float, found)) - true) / statistics.fmean(errors)
        what = f"estimate, {name}, {case.name}"
        rows += [
            Row(what, "truth in the 95% interval", covered, "of trials", TRIALS),
            Row(what, "bias", bias, "standard errors", TRIALS),
            Row(what, "probes", statistics.fmean(each.probes for each in found), "", TRIALS),
        ]
        checks += [
            Check(f"{what}: truth in the 95% interval", covered, sum(COVERAGE)),
            Check(f"{what}: truth in the 95% interval", covered, COVERAGE[0] - COVERAGE[1], at_least=True),
        ]
    return rows, checks
