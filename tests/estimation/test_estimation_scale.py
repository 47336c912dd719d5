"""Designs for estimating where vertices are too many to list: what is said of all of them, against lists of few."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest

from pmlbook import LooseBound, Mechanism, estimation_mechanism
from pmlbook.estimation import estimation_variance
from pmlbook.estimation.block_descent import descended, secrets_bound
from pmlbook.estimation.candidate_set import (
    CandidateSet,
    arcs,
    climb,
    first_circles,
    sets_at_limit,
    swept,
)
from pmlbook.estimation.covariance_bound import min_remainder, most_spread, pairs_bound
from pmlbook.estimation.listed_vertices import criterion_for
from pmlbook.estimation.optimal_design import Spread
from pmlbook.extremal.enumeration import best_mix
from pmlbook.extremal.lift_vectors import exact_lift_vectors
from pmlbook.extremal.regions import lift_limit
from pmlbook.foundations.probability import exact_prior, random_prior
from pmlbook.numerics.progress import Clock


def pool_of(prior, level):
    shares = exact_prior(prior)
    return CandidateSet(shares, lift_limit(shares, level)[1])


def best_spread(candidates, matrix):
    """Value of the best mixture of all vertices for |M (l - 1)|^2, from below."""
    vertices = exact_lift_vectors(candidates.shares, candidates.limit)
    used, _ = best_mix(vertices, Spread(matrix))
    values = ((matrix @ vertices.shifts[:, used]) ** 2).sum(axis=0)
    weights = np.linalg.lstsq(vertices.lifts[:, used], np.ones(len(candidates.shares)), rcond=None)[
        0
    ]
    return float(weights @ values)


@pytest.mark.parametrize("seed", range(12))
def test_no_mixture_spreads_more_than_is_said_whatever_the_matrix(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    prior = np.full(n, 1 / n) if seed % 4 == 0 else random_prior(n, rng)
    candidates = pool_of(prior, float(rng.choice([1e-8, 0.05, 0.4, 1, 3, 50])))
    matrix = rng.normal(size=(int(rng.integers(1, n + 1)), n))
    many = np.diag(rng.exponential(size=n)) + rng.normal(size=(n, n)) * (seed % 2)
    most = most_spread(candidates, matrix, many + many.T)
    assert float(most) >= best_spread(candidates, matrix) * (1 - 1e-9)


@pytest.mark.parametrize("level", [1e-6, 0.03, 0.3, 0.9, 2, 40])
def test_the_bound_of_secrets_and_pairs_is_never_above_the_least_variance(level):
    for prior in ([0.55, 0.2, 0.15, 0.1], [1e-8, 0.3, 0.3, 0.4 - 1e-8], np.full(5, 0.2)):
        candidates = pool_of(prior, level)
        found = first_circles(candidates, np.random.default_rng(0))
        criterion, unit = criterion_for(np.eye(len(prior)), candidates, found)
        best = estimation_mechanism(prior, level)
        assert pairs_bound(candidates, criterion, Clock()) * float(unit) ** 2 <= best.value * (
            1 + 1e-15
        )


def test_it_is_the_least_variance_for_equal_probabilities():
    for n, level in ((5, 0.2), (6, 1.0), (7, 0.7)):
        candidates = pool_of(np.full(n, 1 / n), level)
        found = first_circles(candidates, np.random.default_rng(0))
        criterion, unit = criterion_for(np.eye(n), candidates, found)
        best = estimation_mechanism(np.full(n, 1 / n), level)
        assert pairs_bound(candidates, criterion, Clock()) * float(unit) ** 2 == pytest.approx(
            best.value, rel=1e-9
        )


def test_multipliers_out_of_reach_do_not_end_a_design():
    """Multipliers without a positive matrix once passed for good ones: 'too uneven', for the first prior."""
    half = np.where(np.arange(30) < 15, 1 / 45, 2 / 45)
    for prior in (half, np.random.default_rng(5).dirichlet(np.ones(24))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LooseBound)
            design = estimation_mechanism(prior, 2.0, max_time=0.5)
        assert 0 < design.bound <= design.value < np.inf and design.mechanism.certify(2.0)


def test_two_likely_secrets_cannot_both_be_at_the_limit():
    """By single secrets alone this bound was two per cent too low."""
    prior = 1 / np.arange(1, 25)
    design = estimation_mechanism(prior / prior.sum(), 2.0, tol=1e-3)
    assert design.gap <= 2e-3 * design.value and design.mechanism.certify(2.0)


@pytest.mark.parametrize("people", [[1, 1, 1, 1], [5, 3, 1, 1], [7, 4, 4, 2, 2], [60, 20, 12, 8]])
def test_the_min_remainder_is_that_of_some_vertex(people):
    shares = [Fraction(k, sum(people)) for k in people]
    for level in (0.1, 0.4, 1, 2):
        candidates = CandidateSet(shares, lift_limit(shares, level)[1])
        vertices = exact_lift_vectors(shares, candidates.limit)
        weights = [Fraction(1 + i % 3) for i in range(len(people))]
        costs = [
            weights[i] * (candidates.high[i] - lift) * (lift - candidates.low[i])
            for v, i in enumerate(vertices.place.tolist())
            for lift in [vertices.column(v)[i]]
        ]
        assert min_remainder(candidates, weights) == min(costs)


def test_vertices_along_a_circle_are_vertices_and_average_to_one():
    rng = np.random.default_rng(2)
    for n, level in itertools.product((2, 3, 9, 40), (1e-6, 0.2, 1, 9)):
        candidates = pool_of(random_prior(n, rng), level)
        made, weights = arcs(candidates, rng.permutation(n))
        names = candidates.add(made)
        assert len(names) == len(made)
        assert abs(candidates.vertices.lifts[:, names] @ weights - 1).max() < 1e-12
        for v in names:
            column = candidates.vertices.column(v)
            assert sum(p * lift for p, lift in zip(candidates.shares, column)) == 1
            assert 0 <= min(column) and max(column) <= candidates.limit


def test_a_climb_ends_on_a_vertex_that_is_worth_no_less():
    rng = np.random.default_rng(3)
    candidates = pool_of(random_prior(9, rng), 0.8)
    root, duals = rng.normal(size=(9, 9)), rng.normal(size=9)
    spread = root @ root.T

    def worth(v):
        shift = candidates.vertices.shifts[:, v]
        return shift @ spread @ shift - duals @ shift

    for start in arcs(candidates, rng.permutation(9))[0]:
        before = candidates.add([start])
        after = candidates.add([climb(candidates, *start, spread, duals)])
        assert after and worth(after[0]) >= worth(before[0]) - 1e-12


def test_what_is_no_vertex_is_left_out():
    candidates = pool_of([0.5, 0.3, 0.2], 0.1)
    assert candidates.add([(np.array([True, True, True]), 0), (np.zeros(3, dtype=bool), 2)]) == []


@pytest.mark.parametrize("n", [2, 20])
def test_outcomes_that_reveal_nothing_have_no_finite_variance(n):
    blind = Mechanism(np.full((n, n), 1 / n), np.full(n, 1 / n))
    assert estimation_variance(blind) == np.inf


def test_twenty_secrets_have_a_design_with_a_certified_gap():
    prior, seen = random_prior(20, np.random.default_rng(1)), []
    design = estimation_mechanism(prior, 1.0, tol=1e-2, progress=lambda *told: seen.append(told))
    assert design.mechanism.certify(1.0) and design.bound <= design.value
    assert design.gap <= 2e-2 * design.value
    assert design.value == estimation_variance(design.mechanism)
    values, bounds, _ = zip(*seen)
    assert max(bounds) == pytest.approx(design.bound, rel=1e-9)
    assert values[-1] == pytest.approx(design.value, rel=1e-6) and values[-1] < values[0]


def test_stopped_at_once_it_is_loose_and_says_so():
    prior = random_prior(30, np.random.default_rng(2))
    with pytest.warns(LooseBound):
        design = estimation_mechanism(prior, 0.5, max_time=0)
    assert design.mechanism.certify(0.5) and design.bound <= design.value < np.inf


def test_the_tolerance_is_checked():
    prior = random_prior(19, np.random.default_rng(6))
    for tol in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="tol"):
            estimation_mechanism(prior, 1.0, tol=tol)


def test_names_stay_with_their_secrets():
    pandas = pytest.importorskip("pandas")
    prior = random_prior(19, np.random.default_rng(7))
    named = pandas.Series(prior, [f"class {k}" for k in range(19)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LooseBound)
        design = estimation_mechanism(named, 1.0, max_time=0)
    assert design.mechanism.inputs == tuple(named.index)


@pytest.mark.parametrize("seed", range(8))
def test_a_sweep_finds_the_largest_excess_of_all_vertices_and_is_never_below(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    prior = np.full(n, 1 / n) if seed % 3 == 0 else random_prior(n, rng)
    candidates = pool_of(prior, float(rng.choice([1e-3, 0.3, 1, 5])))
    matrix, duals = rng.normal(size=(n, n)), rng.normal(size=n)
    vertices = exact_lift_vectors(candidates.shares, candidates.limit)
    every = ((matrix @ vertices.shifts) ** 2).sum(axis=0) - duals @ vertices.shifts
    best, names = swept(candidates, sets_at_limit(candidates), matrix, duals)
    found = candidates.vertices.shifts[:, names]
    assert float(best) >= every.max() and float(best) == pytest.approx(every.max(), rel=1e-6)
    assert (((matrix @ found) ** 2).sum(axis=0) - duals @ found).max() == pytest.approx(every.max())


def test_where_pairs_say_little_a_sweep_says_the_rest():
    prior, level = random_prior(19, np.random.default_rng(1)), 0.06
    design = estimation_mechanism(prior, level, tol=1e-2)
    candidates = pool_of(prior, level)
    found = first_circles(candidates, np.random.default_rng(0))
    criterion, unit = criterion_for(np.eye(19), candidates, found)
    assert design.gap <= 1.1e-2 * design.value
    assert design.bound > 1.01 * pairs_bound(candidates, criterion, Clock()) * float(unit) ** 2


@pytest.mark.parametrize("level", [1e-6, 1e-4, 8.0, 60.0])
def test_a_rare_secret_keeps_its_vertex_at_strict_and_generous_levels(level):
    """Vertices dropped by their weight alone would leave a frequency undetermined, or a secret without an outcome."""
    prior = random_prior(19, np.random.default_rng(1))
    design = estimation_mechanism(prior, level, tol=1e-3)
    assert design.mechanism.certify(level)
    assert design.bound <= design.value <= design.bound * (1 + 2e-3)


@pytest.mark.parametrize("n", [19, 22])
def test_a_single_functional_has_a_bound(n):
    prior = random_prior(n, np.random.default_rng(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LooseBound)
        design = estimation_mechanism(prior, 0.5, np.arange(float(n)), max_time=0.3)
    assert design.mechanism.certify(0.5)
    assert 0 < design.bound <= design.value < np.inf


@pytest.mark.parametrize("level", [1e-6, 0.03, 0.3, 0.9, 2, 40])
def test_the_bound_of_secrets_is_never_above_the_least_variance(level):
    rng = np.random.default_rng(4)
    for n in (2, 3, 5, 8):
        rare = np.append(random_prior(n - 1, rng) * (1 - 1e-12), 1e-12)
        for prior in (random_prior(n, rng), np.full(n, 1 / n), rare):
            shares = exact_prior(prior)
            limit = lift_limit(shares, level)[1]
            for target in (np.eye(n), rng.normal(size=(n, 2)), np.ldexp(np.eye(n), -300)):
                bound = secrets_bound(shares, limit, target, Clock())
                assert 0 < bound <= estimation_mechanism(prior, level, target).value


@pytest.mark.parametrize("n, level", [(5, 0.2), (7, 1.0), (9, 0.5)])
def test_for_equal_secrets_the_bound_of_secrets_is_the_least_variance(n, level):
    shares = exact_prior(np.full(n, 1 / n))
    bound = secrets_bound(shares, lift_limit(shares, level)[1], np.eye(n), Clock())
    least = estimation_mechanism(np.full(n, 1 / n), level).value
    assert bound <= least <= bound * (1 + 1e-9)


def rare(n):
    """Shares down to 1e-12, a quarter of them below a thousandth of the mean."""
    shares = np.append(np.ones(n - n // 4), n * np.logspace(-12, -3, n // 4))
    return np.maximum(shares / shares.sum(), 1e-12)


PRIORS = {
    "zipf": lambda n: 1 / np.arange(1, n + 1),
    "even": np.ones,
    "uneven": lambda n: np.maximum(np.random.default_rng(0).dirichlet(np.full(n, 0.1)), 1e-12),
    "rare": rare,
    "one likely": lambda n: np.append(1.0, np.full(n - 1, 1.1e-12)),
}


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("level, above", [(0.3, 0.03), (1.0, 0.03), (3.0, 0.15)])
def test_four_rounds_for_a_hundred_secrets_come_near_the_bound(name, level, above):
    shares = exact_prior(PRIORS[name](100) / PRIORS[name](100).sum())
    limit, prior = lift_limit(shares, level)[1], np.array(shares, dtype=float)
    bound = secrets_bound(shares, limit, np.eye(100), Clock())
    lifts, weights = descended(shares, limit, np.eye(100), bound, 1e-6, Clock(), 2)
    goal = np.eye(100) - prior
    value = np.trace(goal.T @ np.linalg.solve((lifts * weights) @ lifts.T, goal))
    assert bound <= value <= (1 + above) * bound and weights.min() > 0
    assert 0 <= lifts.min() and lifts.max() <= float(limit)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("target", ["frequencies", "two functionals"])
def test_a_design_of_sixty_secrets_keeps_its_level_with_twelve_outcomes_a_secret(name, target):
    prior, rng = PRIORS[name](60), np.random.default_rng(5)
    wanted = target if target == "frequencies" else rng.normal(size=(60, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LooseBound)
        design = estimation_mechanism(prior / prior.sum(), 1.0, wanted, tol=0.5)
    assert design.mechanism.certify(1.0) and len(design.mechanism.outputs) <= 12 * 60
    assert design.value == estimation_variance(design.mechanism, wanted)
    assert design.bound <= design.value <= 2 * design.bound


def test_another_unit_is_another_unit_for_sixty_secrets():
    rng = np.random.default_rng(6)
    prior, wanted = random_prior(60, rng), rng.normal(size=(60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LooseBound)
        first, other = (
            estimation_mechanism(prior, 1.0, np.ldexp(wanted, k), tol=0.5) for k in (0, -400)
        )
    assert np.ldexp(first.bound, -800) == other.bound and np.ldexp(first.value, -800) == other.value


@pytest.mark.parametrize("n", [13, 51])
@pytest.mark.parametrize("level", [1e-6, 6.0, 30.0])
def test_answers_from_common_to_one_in_a_trillion_have_a_design(n, level):
    prior = 10.0 ** -np.linspace(0, 11, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LooseBound)
        design = estimation_mechanism(prior / prior.sum(), level, max_time=0.3)
    assert design.mechanism.certify(level) and design.bound <= design.value < np.inf


def test_a_constant_beside_a_functional_costs_nothing():
    prior, wanted = np.arange(1, 31) / 465, np.cos(np.arange(30))
    alone = estimation_mechanism(prior, 1.0, wanted)
    beside = estimation_mechanism(prior, 1.0, np.column_stack([np.ones(30), wanted]))
    assert (beside.value, beside.bound) == (alone.value, alone.bound)


def test_two_functionals_of_very_rare_answers_have_a_design_at_the_least_level():
    """Without its rare outcomes the average had no solution, and a LinAlgError came out."""
    rng = np.random.default_rng(1)
    prior = np.where(rng.random(60) < 0.4, 10.0 ** -rng.integers(6, 11, 60), 1.0)
    prior, wanted = prior / prior.sum(), rng.normal(size=(60, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LooseBound)
        design = estimation_mechanism(prior, 1e-6, wanted, max_time=0)
    assert design.mechanism.certify(1e-6) and design.bound <= design.value
