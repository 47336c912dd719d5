"""Utilities where floats and fractions part: enclosures, series, lifts and refusals."""

from fractions import Fraction
from functools import partial

import mpmath
import numpy as np

from pmlbook.foundations.lift_functions import expm1_minus, log1p_minus
from pmlbook.foundations.utility import (
    NAMED,
    UNPROVEN_ERROR,
    ExpectedGain,
    FInformation,
    SubLinear,
    alpha_information,
    as_utility,
    finite,
    lifts_of,
)


def precise(alpha):
    """The textbook's f of order alpha."""
    a = mpmath.mpf(alpha)
    return lambda t: (t**a - a * t + a - 1) / (a * (a - 1))


def refused(make, *words):
    try:
        make()
    except ValueError as error:
        return all(word in str(error) for word in words)
    return False


def in_fractions():
    """A prior and a column of lifts in fractions, and both in floats as utilities take them."""
    distribution = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    lifts = [Fraction(1, 2), Fraction(1, 2), Fraction(7, 2)]
    column = np.array([lifts], dtype=float).T
    return distribution, lifts, (column, column - 1, np.array(distribution, dtype=float))


def test_gains_in_fractions():
    rng = np.random.default_rng(7)
    distribution, lifts, given = in_fractions()
    column, _, p = given
    gain = rng.integers(-8, 9, size=(3, 4))
    decision = ExpectedGain(gain, ["flu", "cold", "rare"])
    earned = [
        sum(b * t * int(g) for b, t, g in zip(distribution, lifts, action)) for action in gain.T
    ]  # by each action
    assert decision.exact and decision.enclose(lifts, distribution) == (max(earned), max(earned))
    assert np.isclose(decision.at_lifts(*given)[0], float(max(earned)), rtol=1e-14, atol=0)
    terms = [
        sum(b * t * abs(int(g)) for b, t, g in zip(distribution, lifts, action))
        for action in gain.T
    ]
    assert np.isclose(decision.size(*given)[0], float(max(terms)), rtol=1e-14, atol=0)
    turned = decision.aligned(["rare", "flu", "cold"], "prior")
    assert np.array_equal(turned.gain, gain[[2, 0, 1]]) and turned.inputs == ("rare", "flu", "cold")
    assert decision.aligned(None, "prior") is decision
    unnamed = ExpectedGain(gain)
    assert unnamed.aligned(["a", "b", "c"], "prior") is unnamed


def test_divergences_in_fractions():
    F = Fraction
    distribution = (F(1, 2), F(1, 3), F(1, 6))
    p, lifts = np.array(distribution, dtype=float), [F(1, 2), F(1, 2), F(7, 2)]
    column = np.array([lifts], dtype=float).T
    given = column, column - 1, p
    for f in NAMED.values():
        parts = [[share * end for end in f.enclosure(t)] for share, t in zip(distribution, lifts)]
        low, high = f.enclose(lifts, distribution)
        assert f.exact and (low, high) == (sum(a for a, _ in parts), sum(b for _, b in parts))
        rough = FInformation(f.f)
        (least, most), size = rough.enclose(lifts, distribution), float(rough.size(*given)[0])
        assert not rough.exact and rough.size(*given)[0] > p @ abs(f.f(column[:, 0]))
        assert least < low <= high < most and 0 < most - least < 2.1 * UNPROVEN_ERROR * size < 1e-11
        assert f.size(*given) == f.at_lifts(*given)


def test_a_norm_is_not_exact():
    F = Fraction
    distribution = (F(1, 2), F(1, 3), F(1, 6))
    lifts = [F(1, 2), F(1, 2), F(7, 2)]
    assert not SubLinear(np.linalg.norm).exact
    least, most = SubLinear(lambda v: -np.linalg.norm(v)).enclose(lifts, distribution)
    assert least < -np.linalg.norm(np.array(lifts, dtype=float)) < most


def test_series_of_powers_in_sixty_digits():
    for a in (
        1e-3,
        0.3,
        0.49,
        0.5,
        0.51,
        2.0,
        7.0,
    ):  # zero, the far and the near side of each series
        information, f = alpha_information(a), precise(a)
        for x in (-1, -1 + 1e-9, -0.51, -0.5, -0.49, -0.1, -1e-8, 0, 1e-8, 0.1, 0.49, 0.5, 0.51, 9):
            t = np.array([1.0 + x])
            with mpmath.workdps(60):
                truth = f(mpmath.mpf(float(t[0])))
                for value in (information.excess(t, t - 1)[0], information.f(t)[0]):
                    assert abs(mpmath.mpf(float(value)) - truth) <= 1e-14 * (
                        1 / mpmath.mpf(a) + truth
                    ) * (1 + 1 / abs(a - 1))


def test_series_of_logarithms_in_sixty_digits():
    for x in np.concatenate([-np.geomspace(1e-12, 0.999, 80), np.geomspace(1e-12, 50, 80)]):
        t = np.array([x])
        with mpmath.workdps(60):
            exact = mpmath.mpf(float(x))
            truth = mpmath.log1p(exact) - exact, mpmath.expm1(exact) - exact
            for value, true in zip((log1p_minus(t)[0], expm1_minus(t)[0]), truth):
                assert abs(mpmath.mpf(float(value)) / true - 1) < 2e-15


def test_named_functions_in_sixty_digits():
    textbook_f = {
        "mutual_information": lambda t: t * mpmath.log(t) if t else mpmath.mpf(0),
        "total_variation": lambda t: abs(t - 1) / 2,
        "chi_square": lambda t: (t - 1) ** 2,
        "hellinger": lambda t: (mpmath.sqrt(t) - 1) ** 2,
        "le_cam": lambda t: (t - 1) ** 2 / (2 * (t + 1)),
    }
    for x in (0.5, np.nextafter(0.5, 1), -0.5, -0.7, 3.0, -1.0):
        t = np.array([1 + x])
        with mpmath.workdps(60):
            exact = mpmath.mpf(float(t[0]))
            for name, f in textbook_f.items():
                true = f(exact) - (exact - 1 if name == "mutual_information" else 0)
                assert abs(float(NAMED[name].excess(t, t - 1)[0]) - true) < 2e-15


def columns_under_a_prior():
    """A prior in fractions, the same in floats, and five columns of which the second is zero."""
    prior = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    columns = np.random.default_rng(7).random((3, 5)) * [[1, 0, 1, 1, 1]]
    return prior, np.array(prior, dtype=float), columns


def test_lifts_of_columns():
    distribution, p, columns = columns_under_a_prior()
    outcome, some, shifts = lifts_of(columns, p)
    assert np.allclose(outcome, p @ columns, rtol=0, atol=1e-15) and np.all(some[:, 1] == 1)
    assert np.all(shifts[:, 1] == 0) and np.allclose(some * outcome, columns, rtol=0, atol=1e-15)
    assert np.allclose(shifts, np.where(outcome > 0, some - 1, 0), rtol=0, atol=4e-15)


def test_orders_that_are_none():
    for a in (0, -1.0, 1, np.inf, np.nan, "2", 10**400):
        assert refused(partial(alpha_information, a), "alpha")


def test_names_and_refusals():
    gain = np.random.default_rng(7).integers(-8, 9, size=(3, 4))
    decision = ExpectedGain(gain, ["flu", "cold", "rare"])
    column = np.array([[0.5], [0.5], [3.5]])
    assert (
        alpha_information(5e-324).name == "alpha_5e-324" and alpha_information(2).name == "alpha_2"
    )
    assert refused(lambda: finite(np.array([1.0, np.nan])), "nan") and finite(column) is column
    assert refused(lambda: FInformation(3), "function") and refused(
        lambda: as_utility("shannon"), "none"
    )
    assert refused(lambda: as_utility(3)) and as_utility(decision) is decision
    assert refused(
        lambda: decision.columns(np.ones((2, 1)), np.array([0.5, 0.5])), "3 rows", "2 symbols"
    )
    assert refused(lambda: SubLinear(lambda v: "high")(np.eye(2), [0.5, 0.5]), "not a number")
    assert refused(lambda: SubLinear(lambda: 1)(np.eye(2), [0.5, 0.5]), "column")
    assert refused(lambda: ExpectedGain(gain, ["flu", "cold"])) and refused(
        lambda: ExpectedGain(gain[0])
    )


def test_lifts_in_another_unit():
    distribution, p, columns = columns_under_a_prior()
    outcome, some, shifts = lifts_of(columns, p)
    for unit in (
        1 / 3,
        1.0,
        7.0,
    ):  # a prior that does not sum to one: in another unit, the same lifts
        scaled = lifts_of(columns, unit * p)
        for found, wanted in zip(scaled, (outcome, some, shifts)):
            assert np.allclose(found, wanted, rtol=0, atol=4e-15)
