"""Exact variances: functionals, products of whole numbers and inverses, against fractions."""

import math
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import sympy as sp

from pmlbook.estimation.optimal_design import (
    MANY_SECRETS,
    RECIPROCAL_BITS,
    Spread,
    centred,
    eliminate,
    fisher_information,
    functionals,
    quadratic,
    summed_variance,
    trace_around,
    whole_product,
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


def test_products_of_whole_numbers():
    lot = random.Random(8)
    for n, k, m, most in (
        (1, 1, 1, 2**16),
        (2, 3, 4, 2**64),
        (3, 300, 2, 2**200),
        (9, 5, 9, 2**9000),
    ):
        left, right = (
            np.array([lot.randint(0, most) for _ in range(a * b)], object).reshape(a, b)
            for a, b in ((n, k), (k, m))
        )
        assert (whole_product(left, right) == left @ right).all()
        assert (whole_product(left * 0, right) == 0).all()


def test_products_of_the_largest_parts():
    for many, length in ((2**16, 1), (2**10, 500)):  # the largest parts, and many of them
        full = np.full((1, many), 2 ** (16 * length) - 1, object)
        assert whole_product(full, full.T) == many * full[0, 0] ** 2


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


def test_quadratic_forms_lie_between_their_ends():
    draw = np.random.default_rng(8)
    for n in (1, 2, 4, MANY_SECRETS - 1, MANY_SECRETS):  # from MANY_SECRETS on only enclosed
        root = draw.integers(-9, 10, (n, n)).astype(object)
        matrix = root.T @ root + np.eye(n, dtype=int)
        goal = draw.integers(-9, 10, (n, 2)).astype(object)
        left, vertex, last = eliminate(matrix, goal)
        A = sp.Matrix(matrix)
        exact = by_fractions(matrix.tolist(), goal.tolist())
        assert (
            last == A.det(method="bareiss")
            and not len(left)
            and Fraction(-sum(vertex), last) == exact
        )
        low, high = trace_around(matrix, goal)
        assert low <= exact <= high <= low * (1 + Fraction(1, 2**RECIPROCAL_BITS)) and (
            low == high
        ) == (n < MANY_SECRETS)
        singular = np.vstack([root[1:], 0 * root[:1]])
        singular, inside = singular.T @ singular, (singular.T @ singular) @ goal
        if n > 1:
            assert (
                trace_around(singular, inside) is not None and quadratic(singular, inside) is None
            )
            assert trace_around(singular, goal) is None


def test_elimination_finds_singular_matrices():
    assert eliminate(np.array([[0, 1], [1, 0]], object), np.zeros((2, 0), object))[
        0
    ].any()  # has -1
    assert eliminate(np.array([[0, 0], [0, 3]], object), np.zeros((2, 0), object))[2] == 3


def test_nearly_singular_matrices_stay_enclosed():
    close = 0
    for gap in range(129, 700, 7):  # nearly singular: floats find an inverse that is off
        matrix = np.array([[2**60 + gap, -(2**60)], [-(2**60), 2**60 + gap]], object)
        found, goal = quadratic(matrix, np.array([[3], [-7]], object)), [[3], [-7]]
        close += found is not None
        assert found is None or found[0] <= by_fractions(matrix.tolist(), goal) <= found[1]
    assert close > 20


def test_a_single_number_is_enclosed():
    for number in range(
        1, 200
    ):  # a single number, where what is left is all of the geometric series
        low, high = quadratic(np.array([[number]], object), np.array([[3]], object))
        assert low <= Fraction(9, number) <= high <= low * (1 + Fraction(1, 2**RECIPROCAL_BITS))


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
