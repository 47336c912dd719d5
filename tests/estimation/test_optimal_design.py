"""Variances: functionals, elimination and bounds in floats, against fractions."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sympy as sp

from pmlbook.estimation.optimal_design import (
    MANY_SECRETS,
    RECIPROCAL_BITS,
    Spread,
    centred,
    eliminate,
    exact_trace,
    exact_variance,
    fisher_information,
    functionals,
    summed_variance,
)
from pmlbook.foundations.probability import exact_prior
from pmlbook.release.mechanism import Mechanism


def refused(call, *arguments):
    try:
        call(*arguments)
    except ValueError:
        return True
    return False


def fisher(mechanism):
    """J in fractions: the mean of l l'."""
    unit, n = Fraction(1, 2**53), len(mechanism.exact_prior)
    rows = [[int(w) * unit for w in row] for row in mechanism.weights]
    total = np.array([[Fraction(0)] * n for _ in range(n)])
    for column in zip(*rows):
        seen = sum(p * x for p, x in zip(mechanism.exact_prior, column))
        if seen:
            total += np.outer(column, column) / seen
    return total


def by_fractions(matrix, goal):
    """The trace of goal' matrix^-1 goal by SymPy."""
    A, B = (
        sp.Matrix(len(part), len(part[0]), lambda i, j, part=part: sp.Rational(part[i][j]))
        for part in (matrix, goal)
    )
    return Fraction(str((B.T * A.LUsolve(B)).trace()))


def test_functionals_of_a_name_a_list_and_a_mapping():
    coin = pd.Series([0.25, 0.75], ["a", "b"])
    assert functionals("frequencies", coin).tolist() == [[1, 0], [0, 1]]
    assert (
        functionals([3, 4], coin).tolist()
        == [[3], [4]]
        == functionals({"b": 4, "a": 3}, coin).tolist()
    )
    assert functionals([[1, 2, 3], [4, 5, 6]], [0.5, 0.5]).shape == (2, 3)


def test_functionals_that_are_none():
    coin = pd.Series([0.25, 0.75], ["a", "b"])
    for wrong in (
        "frequencies ",
        None,
        [1],
        [1, 2, 3],
        [[[1], [2]]],
        5.0,
        {"a": 1, "c": 2},
        [1, np.inf],
    ):
        assert refused(functionals, wrong, coin)


def test_a_goal_is_moved_to_mean_zero():
    draw, shares = np.random.default_rng(8), [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]
    wanted = draw.normal(size=(3, 2))
    moved = centred(wanted, shares)
    for column, given in zip(zip(*moved), wanted.T.tolist()):
        assert sum(p * x for p, x in zip(shares, column)) == 0
        assert len({x - Fraction(y) for x, y in zip(column, given)}) == 1


def test_the_information_of_a_channel_in_fractions():
    draw, shares = np.random.default_rng(8), [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]
    wanted = draw.normal(size=(3, 2))
    some = [
        Mechanism(draw.dirichlet(np.ones(5), 3), [0.2, 0.3, 0.5]),
        Mechanism(np.eye(3)[:, [0, 1, 2, 2]] * [1, 1, 1, 0], shares),
    ]
    for m in some:
        J = fisher(m)
        matrix, unit = fisher_information(m, None)
        assert (matrix * unit == J).all() and (J @ np.array(m.exact_prior) == 1).all()
        for bits in (3, RECIPROCAL_BITS):
            matrix, unit = fisher_information(m, bits)
            assert (matrix * unit <= J).all() and (
                J * (1 - Fraction(1, 2**bits)) <= matrix * unit
            ).all()
        goal = centred(wanted, m.exact_prior)
        exact = by_fractions(J.tolist(), goal)
        value = summed_variance(m, wanted)
        assert math.nextafter(value, 0) < exact <= value  # the least float above
        assert refused(summed_variance, m, 1e200 * wanted)


def test_an_outcome_that_tells_nothing():
    shares = [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]
    silent = Mechanism([[0.5, 0.5], [0.5, 0.5], [0, 1]], shares)
    assert summed_variance(silent, np.array([[1.0], [1], [0]])) < np.inf
    assert summed_variance(silent, np.array([[1.0], [0], [0]])) == np.inf


def test_elimination_agrees_with_fractions():
    draw = np.random.default_rng(8)
    for n in (1, 2, 4, 9):
        root = draw.integers(-9, 10, (n, n)).astype(object)
        matrix = root.T @ root + np.eye(n, dtype=int)
        goal = draw.integers(-9, 10, (n, 2)).astype(object)
        last = eliminate(matrix, goal)[2]
        assert last == sp.Matrix(matrix).det(method="bareiss")
        assert exact_trace(matrix, goal) == by_fractions(matrix.tolist(), goal.tolist())
        singular = np.vstack([root[1:], 0 * root[:1]])
        singular = singular.T @ singular
        if n > 1:
            assert exact_trace(singular, singular @ goal) is not None
            assert exact_trace(singular, goal) is None


@pytest.mark.parametrize("n", [MANY_SECRETS, 18])
def test_a_variance_in_floats_is_never_below_the_exact_one(n):
    draw = np.random.default_rng(n)
    for share in (1.0, 0.1):  # the second makes outcomes nearly alike
        channel = share * draw.dirichlet(np.ones(2 * n), n) + (1 - share) / (2 * n)
        mechanism = Mechanism(channel, draw.dirichlet(np.full(n, 0.5)) * 0.9 + 0.1 / n)
        for wanted in (np.eye(n), draw.normal(size=(n, 2)), 1e-200 * draw.normal(size=(n, 3))):
            exact = exact_variance(mechanism, centred(wanted, mechanism.exact_prior))
            assert exact <= summed_variance(mechanism, wanted) <= exact * (1 + 1e-8)


def test_many_secrets_that_outcomes_do_not_determine():
    n = MANY_SECRETS + 2
    channel = np.random.default_rng(3).dirichlet(np.ones(2 * n), n)
    channel[1] = channel[0]
    mechanism, apart = Mechanism(channel, np.full(n, 1 / n)), np.eye(n)[:, 4:6]
    assert summed_variance(mechanism, np.eye(n)[:, :2]) == np.inf
    assert 0 < summed_variance(mechanism, apart) < np.inf


def test_elimination_finds_singular_matrices():
    assert eliminate(np.array([[0, 1], [1, 0]], object), np.zeros((2, 0), object))[
        0
    ].any()  # has -1
    assert eliminate(np.array([[0, 0], [0, 3]], object), np.zeros((2, 0), object))[2] == 3


def test_one_number_in_four_ways():
    draw = np.random.default_rng(8)
    distribution, spread = np.array([0.5, 0.25, 0.25]), Spread(draw.integers(-4, 5, (2, 3)) / 2)
    columns = np.array([[1, 0, 0.5], [0.5, 0.25, 0], [0, 1, 0]]).T
    seen = distribution @ columns
    lifts = columns / seen
    told = [
        spread.enclose(list(map(Fraction, lift.tolist())), exact_prior(distribution))
        for lift in lifts.T
    ]
    values = spread.at_lifts(lifts, lifts - 1, distribution)
    assert spread.exact and all(low == high for low, high in told)
    assert np.allclose(values, [float(low) for low, _ in told], rtol=1e-14, atol=0)
    assert np.allclose(spread.columns(columns, distribution), seen * values, rtol=1e-14, atol=0)
    assert spread.columns(np.zeros((3, 1)), distribution) == 0
    sizes = Spread(abs(spread.matrix)).at_lifts(lifts, abs(lifts - 1), distribution)
    assert (spread.size(lifts, lifts - 1, distribution) == sizes).all() and (sizes >= values).all()
