"""Estimates of a Jacobian's norm are unbiased, and their error bars tell the truth."""

import math

import pytest
import torch
from jacobians import seeded, truth

from pyharness.inspect import jacobian_norm
from pyharness.inspect.norms.norm import student_t


@pytest.mark.parametrize("distribution", ["rademacher", "gaussian"])
def test_the_estimate_is_unbiased_and_its_bars_cover_the_truth(mlp, x, distribution):
    true, generator = truth(mlp, x), seeded(1)
    trials = [jacobian_norm(mlp, x, probes=48, distribution=distribution, generator=generator) for _ in range(200)]
    covered = sum(low <= true <= high for low, high in (each.interval() for each in trials))
    assert 0.90 <= covered / len(trials) <= 0.99
    mean = sum(map(float, trials)) / len(trials)
    assert abs(mean - true) < 3 * trials[0].standard_error / math.sqrt(len(trials))


def test_rademacher_probes_vary_less_than_gaussian_ones(mlp, x):
    errors = [
        jacobian_norm(mlp, x, probes=500, distribution=each, generator=seeded(0)).standard_error
        for each in ("rademacher", "gaussian")
    ]
    assert errors[0] < errors[1]


def test_an_estimate_stops_at_the_error_that_was_asked_for(mlp, x):
    rough = jacobian_norm(mlp, x, estimate=True, generator=seeded(0))
    fine = jacobian_norm(mlp, x, rtol=0.01, generator=seeded(0))
    assert rough.standard_error <= 0.05 * float(rough)
    assert fine.standard_error <= 0.01 * float(fine)
    assert rough.probes < fine.probes < 5000
    assert any("Exact takes 50 VJPs only" in note for note in fine.notes)
    bounded = jacobian_norm(mlp, x, rtol=1e-9, probes=100, generator=seeded(0))
    assert bounded.probes == 100


def test_an_estimate_for_each_sample(mlp, x):
    found = jacobian_norm(mlp, x, probes=2000, per_sample=True, generator=seeded(0))
    exact = jacobian_norm(mlp, x, per_sample=True)
    assert torch.allclose(found.per_sample, exact.per_sample, rtol=0.1)
    assert float(found.per_sample.sum()) == pytest.approx(float(found))


def test_the_same_generator_draws_the_same(mlp, x):
    first, second = (float(jacobian_norm(mlp, x, probes=3, generator=seeded(5))) for _ in range(2))
    assert first == second


def test_one_probe_has_no_error(mlp, x):
    found = jacobian_norm(mlp, x, probes=1)
    assert (found.standard_error, found.interval()) == (None, (0.0, math.inf))


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.7062), (2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (31, 2.0395)]
)
def test_students_t(freedom, quantile):
    """Against the printed tables, as in Abramowitz and Stegun, table 26.10."""
    assert student_t(0.975, freedom) == pytest.approx(quantile, rel=2e-3)
