"""Robust mechanisms beyond the list of columns: against the list where there is one, in integers where there is none."""

import warnings
from fractions import Fraction
from itertools import product
from time import thread_time

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.foundations.probability import random_prior
from pmlbook.numerics import progress
from pmlbook.numerics.enclosure import exp_around
from pmlbook.numerics.progress import Clock
from pmlbook.release.certificate import exp_below
from pmlbook.robust import robust_design as robust
from pmlbook.robust.column_ceilings import FULL, PART, Knapsacks, highest_worth
from pmlbook.robust.estimated_prior import PriorRegion
from pmlbook.robust.many_secrets import exchanged, grow_columns
from pmlbook.robust.robust_design import keeps_level, robust_columns, robust_mechanism


def drawn(seed, n):
    rng = np.random.default_rng([28, seed])
    counts = rng.multinomial(int(rng.integers(20, 2000)), random_prior(n, rng))
    make = (pb.robust.box_region, pb.robust.ball_region)[seed % 2]
    return make(counts, zeros="add"), float(rng.choice([0.05, 0.5, 1.0, 2.0])), rng


def information(column, prior):
    """Information of a column, from its definition."""
    mean = prior @ column
    used = column > 0
    return float((prior[used] * column[used] * np.log(column[used] / mean)).sum())


@pytest.mark.parametrize("seed", range(8))
def test_no_listed_column_is_worth_more_than_the_bound(seed):
    region, level, rng = drawn(seed, 4)
    limit = exp_around(Fraction(level))[1]
    packs = Knapsacks(region, limit)
    columns = robust_columns(region, level)
    values = np.array([information(column, region.prior) for column in columns.T])
    for duals in (rng.normal(size=4) * region.prior, level * region.prior):
        worth = (values - duals @ columns).max()
        bound = highest_worth(packs, duals, 1e-2)
        assert bound >= worth
        for _ in range(5):  # and exchange ends at a column on the list
            found, states = exchanged(packs, duals, rng.integers(0, 3, 4))
            assert found <= worth + 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_generated_columns_reach_the_optimum_over_the_list(seed, monkeypatch):
    """What the large search does for few secrets: the value of the list, a bound above it, the level in integers."""
    region, level, _ = drawn(seed, 6)
    exact = robust_mechanism(region, level)
    monkeypatch.setattr(progress, "perf_counter", thread_time)  # not that of a busy machine
    inner, outer, bound = grow_columns(region, exp_around(Fraction(level))[1], Clock(0.6))
    assert bound >= exact.value
    monkeypatch.setattr(robust, "MAX_REGION_SECRETS", 5)
    monkeypatch.setattr(robust, "grow_columns", lambda *_: (inner, outer, bound))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = robust_mechanism(region, level)
    assert keeps_level(design.mechanism, region, level)
    assert exact.value - 2e-3 * exact.value <= design.value <= exact.bound + 1e-12


def test_fifteen_secrets_in_integers():
    """The level under the worst prior of each outcome, filled in fractions here, not by the library."""
    names = [f"answer {k}" for k in range(15)]
    counts = np.random.default_rng(3).multinomial(800, random_prior(15, np.random.default_rng(2)))
    box = pb.robust.box_region(counts, zeros="add")
    region = PriorRegion(box.prior, box.low, box.high, inputs=tuple(names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = robust_mechanism(region, 0.7, max_time=0.5)
    low, high = (list(map(Fraction, ends.tolist())) for ends in (region.low, region.high))
    for column in design.mechanism.weights.T.tolist():
        left, distribution = 1 - sum(low), list(low)
        for i in sorted(range(15), key=column.__getitem__):
            distribution[i] += min(left, high[i] - low[i])
            left -= distribution[i] - low[i]
        assert sum(distribution) == 1
        assert max(column) <= exp_below(0.7) * sum(q * w for q, w in zip(distribution, column))
    assert design.mechanism.inputs == tuple(names) and 0.3 < design.value <= design.bound
    alone = pb.optimal_mechanism(region.prior, 0.7, max_time=2).bound
    assert (
        design.value <= alone
    )  # no mechanism for the region is better than the one for the known prior


@pytest.mark.parametrize("level", [0.0, 1e-6, 12.0, 800.0])
def test_levels_at_the_ends(level):
    region = pb.robust.box_region([5, 9, 14, 20, 30, 40, 41, 50, 70, 90, 131], zeros="refuse")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        design = robust_mechanism(region, level, max_time=0.1)
    assert keeps_level(design.mechanism, region, level) and 0 <= design.value <= design.bound
    if level > 10:  # all secrets may be published
        assert design.value == pytest.approx(pb.foundations.entropy(region.prior), abs=1e-9)


def test_what_is_refused():
    with pytest.raises(ValueError, match="201 secrets"):
        robust_mechanism(pb.robust.box_region([10] * 201), 0.5)


def test_states_are_sums():
    """The worth of a column from sums is that of its entries."""
    region, level, _ = drawn(0, 5)
    packs = Knapsacks(region, exp_around(Fraction(level))[1])
    each = packs.sums(np.zeros(5))
    for states in map(np.array, product(range(3), repeat=5)):
        value, t = packs.worth(*((each @ (states == s))[:, None] for s in (FULL, PART)))
        if np.isfinite(value[0]):
            column = np.choose(states, [0.0, t[0], 1.0])
            assert value[0] == pytest.approx(information(column, region.prior), abs=1e-12)


def test_a_prior_outside_of_the_region_bounds_nothing():
    """The bound for the central prior was taken, though the level need not be kept there."""
    inside = np.array([0.9] + [0.01] * 10)
    outside = np.array([0.01] + [0.099] * 10)
    design = robust_mechanism(PriorRegion(outside, inside, inside), 0.05, max_time=10)
    assert design.value <= design.bound
    few = PriorRegion([0.01] + [0.11] * 9, *[[0.9] + [0.1 / 9] * 9] * 2)
    assert design.value > 3 * robust.information_bound(outside, 0.05)
    assert robust_mechanism(few, 0.05).gap < 1e-9
