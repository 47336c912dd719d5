"""Column generation against enumeration, against its own certificate, and against the clock."""

from itertools import count

import numpy as np
import pytest

from pmlbook.extremal.column_generation import column_generation
from pmlbook.extremal.enumeration import enumerate_optimum, mixture
from pmlbook.extremal.lift_vectors import lift_vectors
from pmlbook.extremal.losses import Groups, closed_bound
from pmlbook.extremal.pricing import price
from pmlbook.foundations.leakage import epsilon_max, epsilon_pml
from pmlbook.foundations.probability import random_prior
from pmlbook.foundations.utility import NAMED, ExpectedGain
from pmlbook.numerics import progress

INFORMATION = NAMED["mutual_information"]


def case(trial):
    """Prior, level and utility: every third prior has ties, every fourth level is a boundary."""
    rng = np.random.default_rng(trial)
    n = int(rng.integers(2, 11))
    prior = random_prior(n, rng)
    if trial % 3 == 0:
        prior = rng.integers(1, 4, size=n) / 1.0
        prior = prior / prior.sum()
    level = rng.uniform(0.01, 1.1 * epsilon_max(prior))
    if trial % 4 == 0 and n > 2:
        level = -np.log(np.sort(prior)[: rng.integers(1, n)].sum())
    return prior, level, list(NAMED.values())[trial % 6]


def zipf(n):
    weights = 1 / np.arange(1, n + 1)
    return weights / weights.sum()


@pytest.mark.parametrize("trial", range(40))
def test_equals_enumeration(trial):
    prior, level, utility = case(trial)
    lifts, _, bound = column_generation(prior, level, utility, tol=1e-11)
    truth = enumerate_optimum(prior, level, utility)[1]
    channel = mixture(lifts, prior, shave=0)
    assert lifts.shape[1] <= len(prior)
    assert epsilon_pml(channel, prior) <= level + 1e-10
    near = (
        1e-7 if utility.name == "hellinger" else 1e-9
    )  # a remainder of 1e-16 costs Hellinger 1e-8
    assert abs(utility(channel, prior) - truth) < near * max(1, truth)
    assert -1e-12 < bound - truth < near * max(1, truth)


@pytest.mark.parametrize("name", ["mutual_information", "total_variation", "chi_square"])
def test_equals_enumeration_at_twelve_symbols(name):
    prior = random_prior(12, np.random.default_rng(12))
    truth = enumerate_optimum(prior, 1.0, NAMED[name])[1]
    lifts, _, bound = column_generation(prior, 1.0, NAMED[name])
    value = NAMED[name](mixture(lifts, prior, shave=0), prior)
    assert abs(value - truth) < 1e-9 * max(1, truth) and abs(bound - truth) < 2e-9 * max(1, truth)


@pytest.mark.parametrize("n", [13, 14])
@pytest.mark.parametrize("tied", [True, False])
def test_equals_enumeration_on_a_boundary(n, tied):
    rng = np.random.default_rng(n)
    prior = rng.integers(1, 4, size=n) / 1.0 if tied else rng.random(n)
    prior, utility = prior / prior.sum(), list(NAMED.values())[n % 6]
    level = -np.log(np.sort(prior)[: n // 2].sum())
    truth = enumerate_optimum(prior, level, utility)[1]
    lifts, _, bound = column_generation(prior, level, utility)
    value = utility(mixture(lifts, prior, shave=0), prior)
    assert abs(value - truth) < 1e-9 * truth and abs(bound - truth) < 2e-9 * truth


def test_rounding_on_a_boundary_does_not_lower_the_bound():
    rng = np.random.default_rng(0)
    for _ in range(40):
        prior = rng.dirichlet(np.ones(3))
        level = -np.log(prior[0] + prior[2])  # a remainder of 1e-16 would cost Hellinger 1e-8
        bound = column_generation(prior, level, NAMED["hellinger"], tol=1e-11)[2]
        assert bound >= enumerate_optimum(prior, level, NAMED["hellinger"])[1] - 1e-12


@pytest.mark.parametrize(
    "n, people, epsilon", [(30, 300, 2.0), (50, 1000, 0.5), (100, 2000, 1.0), (3000, 60_000, 1.0)]
)
def test_priors_of_counts_are_solved_to_the_end(n, people, epsilon):
    counts = np.random.default_rng(n).multinomial(people, zipf(n)) + 1
    prior = counts / counts.sum()
    lifts, _, bound = column_generation(prior, epsilon, INFORMATION)
    value = INFORMATION(mixture(lifts, prior, shave=0), prior)
    assert lifts.shape[1] <= n and -1e-12 <= bound - value <= 1e-9 * value


@pytest.mark.parametrize("prior", [random_prior(60, np.random.default_rng(60)), zipf(200)])
def test_many_symbols_to_a_millionth(prior):
    lifts, _, bound = column_generation(prior, 1.0, INFORMATION, tol=1e-6, max_time=30)
    channel = mixture(lifts, prior, shave=0)
    assert lifts.shape[1] <= len(prior)
    assert (
        np.allclose(prior @ lifts, 1, rtol=0, atol=1e-12)
        and epsilon_pml(channel, prior) <= 1 + 1e-9
    )
    assert -1e-12 <= bound - INFORMATION(channel, prior) <= 1.1e-6 * bound
    assert bound <= closed_bound(prior, 1.0, INFORMATION) + 1e-12


@pytest.mark.parametrize(
    "epsilon", [-np.log1p(-1.03 * zipf(2000)[0]), -np.log(1.03 * zipf(2000)[1])]
)
def test_a_heavy_symbol_that_leaves_little_room(epsilon):
    # what an outcome leaves out, or holds, is 3 % more than one symbol: few sets complete it
    lifts, shares, bound = column_generation(zipf(2000), epsilon, INFORMATION)
    value = float(shares @ INFORMATION.columns(lifts, zipf(2000)))
    assert -1e-12 <= bound - value <= 1e-9 * value


@pytest.mark.parametrize("n", [30, 150, 400])
def test_interrupted(n):
    prior = random_prior(n, np.random.default_rng(n))
    lifts, _, bound = column_generation(prior, 1.0, INFORMATION, max_time=0.05)
    channel = mixture(lifts, prior, shave=0)
    assert lifts.shape[1] <= n and epsilon_pml(channel, prior) <= 1 + 1e-9
    assert INFORMATION(channel, prior) <= bound <= closed_bound(prior, 1.0, INFORMATION) + 1e-12


@pytest.mark.parametrize("n, epsilon", [(60, 1.0), (400, 0.1), (3000, 3.0)])
def test_a_limit_ends_the_search_after_a_few_readings_of_the_clock(monkeypatch, n, epsilon):
    # a clock on which each reading takes .05 seconds, and nothing else does
    readings, limit = count(0.0, 0.05), 1.0
    monkeypatch.setattr(progress, "perf_counter", lambda: next(readings))
    lifts, shares, bound = column_generation(zipf(n), epsilon, INFORMATION, 1e-15, max_time=limit)
    assert next(readings) <= 1.2 * limit + 1
    assert float(shares @ INFORMATION.columns(lifts, zipf(n))) <= bound + 1e-12


def test_progress_gets_a_bracket_that_closes():
    trace, prior = [], random_prior(20, np.random.default_rng(3))
    column_generation(prior, 1.0, INFORMATION, progress=lambda *now: trace.append(now))
    values, bounds, seconds = np.array(trace).T
    assert (np.diff(values) > -1e-12).all() and (np.diff(bounds) < 1e-12).all()
    assert (np.diff(seconds) >= 0).all() and bounds[-1] - values[-1] <= 1e-9


def test_near_ties_that_six_or_seven_fill_are_closed():
    weights = abs(1 + 0.1 * np.random.default_rng(1).normal(size=50))
    lifts, shares, bound = column_generation(weights / weights.sum(), 2.0, INFORMATION, max_time=60)
    value = float(shares @ INFORMATION.columns(lifts, weights / weights.sum()))
    assert value <= bound + 1e-12 and bound - value < 1e-6 * value


@pytest.mark.parametrize("limit, pairs", [(4, 6), (4, 10**6), (4096, 6), (4096, 10**6)])
def test_dual_variable_bounds_every_excess(limit, pairs):
    rng = np.random.default_rng(limit + pairs)
    for trial in range(40):
        prior = np.sort(random_prior(int(rng.integers(3, 9)), rng))
        utility, level = list(NAMED.values())[trial % 6], rng.uniform(0.1, 0.9 * epsilon_max(prior))
        groups, duals = Groups(prior, level, utility), prior + rng.normal(size=len(prior)) / 10
        vertices, (low, high) = lift_vectors(prior, level), groups.ends
        x = np.clip((vertices - groups.floor[:, None]) / groups.span[:, None], 0, 1)
        loss = (prior * low) @ (1 - x) + (prior * high) @ x - utility.columns(vertices, prior)
        excess = (duals @ x - loss).max()
        bound = price(groups, duals, limit, pairs, 1)[1]
        assert bound <= duals @ groups.share - excess + 1e-10


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([0.5, 0.5, 0.5], 1.0, INFORMATION), "prior"),
        (([0.5, 0.5], -1.0, INFORMATION), "epsilon"),
        (([0.5, 0.5], 1.0, ExpectedGain(np.eye(2))), "ExpectedGain"),
        (([0.5, 0.5], 1.0, INFORMATION, 1e-9, -1.0), "max_time"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        column_generation(*arguments)
