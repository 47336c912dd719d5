"""Measures of a channel are right to 5e-15 nats inside the domain, in every order of memory."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from pmlbook.foundations.leakage import epsilon_pml, local_dp, maximal_leakage
from pmlbook.foundations.probability import mutual_information


def channel_and_prior(n, m, rng):
    """A channel whose sums are off by up to 1e-9, with entries down to 1e-12, and a prior that is as rare."""
    prior = np.maximum(rng.dirichlet(np.full(n, rng.choice([0.05, 1.0]))), 1e-12)
    rows = 10.0 ** -rng.uniform(0, rng.choice([1e-8, 1e-3, 1, 6, 12]), (n, m))
    rows /= rows.sum(axis=1, keepdims=True)
    rows *= 1 + rng.uniform(-9e-10, 9e-10, (n, 1))
    return rows, prior / prior.sum()


def in_fractions(rows, prior):
    """The four measures of the numbers as given, divided by their exact sums."""
    shares = [Fraction(p) for p in prior.tolist()]
    shares = [share / sum(shares) for share in shares]
    table = [[Fraction(x) for x in row] for row in rows.tolist()]
    table = [[x / sum(row) for x in row] for row in table]
    columns = list(zip(*table))
    means = [sum(map(Fraction.__mul__, shares, column)) for column in columns]
    tops = [max(column) for column in columns]

    def ln(ratio):
        return mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)

    information = sum(
        mpmath.mpf(float(share * x)) * ln(x / mean)
        for column, mean in zip(columns, means)
        for share, x in zip(shares, column)
    )
    return (
        max(ln(top / mean) for top, mean in zip(tops, means)),
        ln(sum(tops)),
        max(ln(top / min(column)) for top, column in zip(tops, columns)),
        information,
    )


@pytest.mark.parametrize("seed", range(12))
def test_measures_are_right_to_the_last_digits(seed):
    rng = np.random.default_rng(seed)
    n, m = (60, 40) if seed == 0 else rng.integers(1, 9, size=2)
    rows, prior = channel_and_prior(n, m, rng)
    with mpmath.workdps(40):
        exact = in_fractions(rows, prior)
        for table in (rows, np.asfortranarray(rows), rows[::-1][::-1]):
            found = (
                epsilon_pml(table, prior),
                maximal_leakage(table),
                local_dp(table),
                mutual_information(table, prior),
            )
            for ours, right in zip(found, exact):
                assert abs(ours - right) <= 5e-15
