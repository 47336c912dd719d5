"""Very rare secrets: the verdict of the table, levels that hold, bounds that meet them."""

import math
import warnings

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.worst_case.least_leakage import BRACKET_NATS
from pmlbook.worst_case.utility_safe import utility_safe_leakage


@pytest.mark.parametrize("start", range(1, 8))
def test_rarest_secrets_of_a_few_in_a_billion(start):
    """129 of 399 such priors were called infeasible, by every door."""
    for k in range(start, 400, 70):
        prior = [1 - k * 1e-9, k * 1e-9]
        assert pb.min_leakage([[5.0], [5.0]], prior, 0).value == 0
        assert pb.worst_case.worst_case_frontier([[5.0], [5.0]], prior)[0].design.value == 0
        assert pb.worst_case_mechanism([[5.0, 1.0], [1.0, 5.0]], prior, 0.5).value == 1


def test_the_case_that_was_reported():
    assert pb.min_leakage([[5.0], [5.0]], [1 - 2.2e-7, 2.2e-7], 0).value == 0


@pytest.mark.parametrize("seed", range(60))
def test_brackets_close_however_rare(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 6, size=2)
    prior = rng.dirichlet(np.ones(n))
    prior[rng.integers(n)] = 1.1 * 10.0 ** -rng.choice([8, 9, 10, 11, 12])
    prior /= prior.sum()
    table = rng.integers(0, 4, size=(n, m)).astype(float)
    threshold = rng.choice(table[table <= table.max(axis=1).min()])
    with warnings.catch_warnings():
        warnings.simplefilter("error", pb.LooseBound)
        design = pb.min_leakage(table, prior, threshold)
    assert design.mechanism.certify(design.value)
    assert design.bound <= design.value <= design.bound + 2 * BRACKET_NATS
    assert not design.mechanism.channel[table < threshold].any()


def test_levels_of_fair_draws_hold():
    rng = np.random.default_rng(3)
    for _ in range(100):
        n, m = rng.integers(1, 7, size=2)
        table = rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1)
        prior = rng.dirichlet(np.ones(n))
        rank = int(rng.integers(1, m + 1))
        level = utility_safe_leakage(table, prior, rank)
        assert pb.worst_case.utility_safe_mechanism(table, prior, rank).certify(level)


@pytest.mark.parametrize("epsilon", [710, 1000.0, math.log(2)])
def test_expected_utility_at_extreme_levels(epsilon):
    """From 710 nats on this was an OverflowError."""
    ranks, prior = [[3, 2, 1], [1, 3, 2], [2, 1, 3]], [0.6, 0.25, 0.15]
    design = pb.worst_case.expected_utility_mechanism(ranks, prior, epsilon, floor=1)
    assert design.mechanism.certify(epsilon) and design.value <= design.bound <= design.value + 1e-8


@pytest.mark.parametrize("seed", range(12))
def test_the_least_leakage_itself_is_a_level(seed):
    """At exactly the level that a worst case costs, both searches afford it; one float below they may not."""
    rng = np.random.default_rng([55, seed])
    n, m = (int(v) for v in rng.integers(2, 6, size=2))
    prior = rng.dirichlet(np.ones(n)) * 10.0 ** (rng.uniform(-9, 0, n) if seed % 2 else 0)
    prior, table = prior / prior.sum(), rng.integers(0, 5, (n, m)).astype(float)
    floor = float(rng.choice(np.unique(table[table <= table.max(axis=1).min()])))
    level = pb.min_leakage(table, prior, floor).value
    design = pb.worst_case_mechanism(table, prior, level)
    assert design.value >= floor and design.mechanism.certify(level)
    design = pb.worst_case.expected_utility_mechanism(table, prior, level, floor)
    assert design.mechanism.certify(level)
    assert not design.mechanism.channel[table < floor].any()
