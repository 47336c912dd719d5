"""Least leakage: outputs that are kept, brackets, time and names."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from pmlbook.foundations.probability import exact_prior
from pmlbook.numerics.linear_programmes import Infeasible
from pmlbook.numerics.validation import InvalidPrior
from pmlbook.worst_case.dual_certificate import dual_certificate_bound
from pmlbook.worst_case.least_leakage import (
    Bracket,
    maximal_outputs,
    min_leakage,
    min_leakage_of_mask,
)
from pmlbook.worst_case.problem import allowed_by_rank


def test_outputs_that_are_kept_by_definition():
    rng = np.random.default_rng(4)
    for _ in range(60):
        mask = rng.random(rng.integers(1, 5, size=2)) < 0.6
        sets = [frozenset(np.flatnonzero(column)) for column in mask.T]
        kept = [not any(one < other for other in sets) for one in sets]
        kept = [j for j, one in enumerate(sets) if one and kept[j] and one not in sets[:j]]
        assert maximal_outputs(mask).tolist() == kept


def test_a_bracket_takes_only_what_is_better():
    prior = np.array([0.6, 0.25, 0.15])
    cyclic = np.array([[3, 2, 1], [1, 3, 2], [2, 1, 3]])
    table = allowed_by_rank(cyclic, 2)
    best = min_leakage(cyclic, prior, 2, by="rank")
    duals = [[Fraction(k, 4) for k in some] for some in ((0, 2, 2), (4, 0, 0), (1, 1, 2))]
    shares, fair, taken = exact_prior(prior), table.astype(float), Bracket(table, prior)
    columns = [[Fraction(p) for p in column] for column in best.mechanism.channel.T]
    reached = max(max(c) / sum(p * s for p, s in zip(c, shares)) for c in columns if any(c))
    assert abs(math.log(reached) - best.value) < 1e-15 and best.gap < 1e-9
    for flow, dual, lift in (
        (fair * [[1], [0], [1]], 1, None),  # a secret without an outcome
        (fair, 0, 1 / (shares[1] + shares[2])),
        (3 * best.mechanism.channel, 1, reached),
        (fair, 2, reached),
    ):
        before = taken.bound
        taken.take(flow, duals[dual])
        proved = dual_certificate_bound(
            table, np.array(shares, dtype=object), np.array(duals[dual])
        )
        assert taken.bound == max(before, proved) and (taken.lift is None) == (lift is None)
        assert lift is None or abs(taken.lift - lift) < 1e-15 and max(taken.lift, taken.bound) < 2.6
    assert abs(taken.bound - 2) < 1e-15 and reached - 2 < 1e-9
    assert np.array_equal(taken.mechanism.channel, best.mechanism.channel)


def test_without_time_both_ends_hold():
    strange = np.array(
        [[0, 0, 0, 0, 0, 1], [1, 0, 0, 1, 1, 0], [1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0]]
        + [[1, 1, 0, 1, 0, 1], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]
    )
    weights = [0.16, 0.3, 0.05, 0.11, 0.19, 0.12, 0.07]
    exact = np.log((103 - np.sqrt(2609)) / 16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, high, low = min_leakage_of_mask(strange, weights, max_time=0)
        hasty = min_leakage(strange, weights, 1, max_time=0)
        assert low < exact - 1e-6 or high > exact + 1e-6
    for top, bottom in (
        (high, low),
        (hasty.value, hasty.bound),
    ):  # how near they come is a matter of luck
        assert bottom <= exact + 1e-15 and exact <= top + 1e-15


def test_names_and_refusals():
    prior = np.array([0.6, 0.25, 0.15])
    cyclic = np.array([[3, 2, 1], [1, 3, 2], [2, 1, 3]])
    table = allowed_by_rank(cyclic, 2)
    best = min_leakage(cyclic, prior, 2, by="rank")
    named = min_leakage(
        pd.DataFrame(cyclic, columns=list("abc")), pd.Series(prior, list("xyz")), 2, by="rank"
    )
    assert named.mechanism.inputs == tuple("xyz") and named.mechanism.outputs == tuple("abc")
    assert np.array_equal(named.mechanism.channel, best.mechanism.channel)
    for wrong, kind in (
        (0.5 * table, ValueError),
        (table[:2], ValueError),
        (table * [[1], [0], [1]], Infeasible),
    ):
        try:
            min_leakage_of_mask(wrong, prior)
            raise AssertionError("taken for a table of the prior's size with answers for all")
        except kind as error:
            assert isinstance(error, Infeasible) == (kind is Infeasible)


def test_outcomes_that_hardly_occur_are_not_stored():
    """The search ends with outcomes of probability 1e-17, which a channel in units of 2^-53 cannot have."""
    rng = np.random.default_rng(102)
    prior, table = rng.dirichlet(np.ones(60)), rng.normal(size=(60, 60)) >= 0
    _, value, bound = min_leakage_of_mask(table, prior)
    assert bound <= value <= bound + 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_secrets_as_rare_as_the_domain_allows(seed):
    rng = np.random.default_rng([54, seed])
    n, m = (int(k) for k in rng.integers(2, 12, 2))
    prior = 10.0 ** -rng.uniform(0, 11.5, n)
    table = rng.random((n, m)) < 0.5
    table[np.arange(n), rng.integers(m, size=n)] = True
    _, value, bound = min_leakage_of_mask(table, prior / prior.sum())
    assert bound <= value <= bound + 1e-7


def test_a_rarer_secret_is_refused():
    with pytest.raises(InvalidPrior, match="merge answers that are rarer"):
        min_leakage([[1, 0], [0, 1]], [1 - 1e-13, 1e-13], 0)
