"""Limits of leakage from limits of densities hold for every density between them, and what is no limit is refused."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from mpmath import mp

from pmlbook.additive_noise.density import cell_bracket
from pmlbook.numerics.validation import InvalidPrior


def exact_leakage(rows, shares):
    """Leakage of each outcome in 40 digits."""
    whole = sum(map(Fraction, shares.tolist()))
    for column in rows.T.tolist():
        mean = sum(Fraction(p) * Fraction(q) for p, q in zip(shares.tolist(), column)) / whole
        lift = Fraction(max(column)) / mean
        with mp.workdps(40):
            yield mp.log(mp.mpf(lift.numerator) / lift.denominator)


def test_the_bracket_holds_for_all_densities_between_the_limits():
    rng = np.random.default_rng(4)
    for _ in range(200):
        n, m = rng.integers(1, 6, size=2)
        rows, shares = rng.dirichlet(np.ones(m), n), rng.dirichlet(np.ones(n))
        below, above = rows * rng.uniform(0, 1, (n, m)), rows * rng.uniform(1, 3, (n, m))
        low, high = cell_bracket(below, above, shares)
        told = exact_leakage(rows, shares)
        assert all(x <= y <= z for x, y, z in zip(low.tolist(), told, high.tolist()))


def test_without_a_gap_both_limits_are_the_leakage_rounded_outwards():
    rng = np.random.default_rng(6)
    for n in (1, 2, 40):
        rows, shares = rng.dirichlet(np.ones(3), n), rng.dirichlet(np.ones(n))
        low, high = cell_bracket(rows, rows, shares)
        told = exact_leakage(rows, shares)
        assert all(x <= y <= z for x, y, z in zip(low.tolist(), told, high.tolist()))
        assert (high - low).max() < (n + 8) * 2.0**-50


def test_what_overflows_has_no_upper_limit():
    low, high = cell_bracket([[1e-320], [0.1]], [[1e308], [1e308]], [0.5, 0.5])
    assert low[0] == 0 and high[0] == np.inf


def test_an_impossible_outcome_has_none_and_an_uncertain_one_has_no_upper_limit():
    low, high = cell_bracket([[0.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.5]], [0.5, 0.5])
    assert np.isnan(low[0]) and np.isnan(high[0])
    assert low[1] == 0 and high[1] == np.inf


@pytest.mark.parametrize(
    "low, high, shares, said",
    [
        ([[0.2], [0.3]], [[0.1], [0.4]], [0.5, 0.5], "cell 0, outcome 0: 0.2 to 0.1"),
        ([[0.2], [-0.3]], [[0.3], [0.4]], [0.5, 0.5], "cell 1, outcome 0: -0.3 to 0.4"),
        ([[0.2]], [[0.3], [0.4]], [0.5, 0.5], r"low has shape \(1, 1\)"),
        ([[np.nan], [0.1]], [[0.3], [0.4]], [0.5, 0.5], "low"),
    ],
)
def test_what_is_no_limit_is_refused(low, high, shares, said):
    with pytest.raises(ValueError, match=said):
        cell_bracket(low, high, shares)


def test_shares_must_be_a_prior():
    with pytest.raises(InvalidPrior, match="shares"):
        cell_bracket([[0.1], [0.1]], [[0.2], [0.2]], [0.5, 0.6])


@pytest.mark.parametrize("column", [[5e-324, 1e-323], [3e-323, 1e-323], [5e-324, 5e-324]])
def test_densities_that_floats_barely_hold(column):
    """Their means were rounded to the next of a few numbers, or to nothing."""
    rows, shares = np.array([column]).T, np.array([0.25, 0.75])
    low, high = cell_bracket(rows, rows, shares)
    assert low[0] <= next(exact_leakage(rows, shares)) <= high[0] <= low[0] + 1e-12


def test_names_bring_limits_and_shares_into_one_order():
    table = pd.DataFrame([[1.0, 9.0], [3.0, 1.0]], index=["a", "b"])
    shares = pd.Series({"a": 0.7, "b": 0.3})
    one, two = cell_bracket(table, table, shares), cell_bracket(table, table[::-1], shares[::-1])
    assert np.array_equal(one, two)
