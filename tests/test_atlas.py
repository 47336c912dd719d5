"""Optima under four measures: promises kept, bounds valid, asymmetric bounds between them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from pmlbook import InvalidPrior, epsilon_pml, local_dp, maximal_leakage, optimum_under
from pmlbook.extremal.atlas import (
    MEASURES,
    box_corners,
    exact_weights,
    ratio_corners,
    set_corners,
)
from pmlbook.foundations.leakage import lift
from pmlbook.workshop.linear_programmes import SolverFailed

PRIORS = [[0.5, 0.5], [0.6, 0.3, 0.1], [0.25] * 4, [1 - 2e-8, 1e-8, 1e-8], [0.4, 0.3, 0.2, 0.1]]
LEVELS = [0, 1e-10, 0.3, math.log(2), 3.0, 40.0]


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("measure", MEASURES)
def test_promise_is_kept_and_bound_is_near(measure, prior):
    for level in LEVELS:
        best = optimum_under(measure, prior, level)
        assert 0 <= best.bound - best.value <= 1e-9, level
        assert np.allclose(best.channel.sum(axis=1), 1, rtol=0, atol=1e-12)
        kept = {
            "pml": epsilon_pml(best.channel, prior),
            "ldp": local_dp(best.channel),
            "maximal": maximal_leakage(best.channel),
            "lip": max(0.0, float(abs(np.log(lift(best.channel, prior)[best.channel > 0])).max())),
        }[measure]
        assert kept <= level + 1e-9


def test_known_answers():
    for level in (0.1, 0.7, 2.0):
        c = math.exp(level)
        flip = 1 / (1 + c)
        told = math.log(2) + flip * math.log(flip) + (1 - flip) * math.log(1 - flip)
        assert optimum_under("ldp", [0.5, 0.5], level).value == pytest.approx(told, abs=1e-12)
        budget = min(
            c, 4.0
        )  # uniform, total variation: a clear answer with probability (c - 1) / 3
        best = optimum_under("maximal", [0.25] * 4, level, "chi_square")
        assert best.value == pytest.approx(budget - 1, abs=1e-12)


def test_asymmetric_bounds_lie_between():
    prior = [0.5, 0.3, 0.2]
    pml = optimum_under("pml", prior, 0.6)
    values = [
        optimum_under("lip", prior, 0.6, lower=low) for low in (0, 0.1, 0.6, 5, math.log(1e300))
    ]
    assert values[0].value == 0 and np.all(np.diff([v.value for v in values]) > -1e-15)
    assert values[2].value == optimum_under("lip", prior, 0.6).value
    assert values[-1].value == pytest.approx(pml.value, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_corners_are_corners(seed):
    rng = np.random.default_rng(seed)
    parts = rng.integers(1, 6, size=3).tolist()
    shares = [Fraction(k, sum(parts)) for k in parts]
    low, high = Fraction(1, 2), Fraction(3, 2)
    for corner in box_corners(shares, low, high):
        assert sum(p * x for p, x in zip(shares, corner)) == 1
        assert all(low <= x <= high for x in corner)
        assert sum(low < x < high for x in corner) <= 1
    for corner in ratio_corners(shares, high):
        assert sum(p * x for p, x in zip(shares, corner)) == 1
        assert max(corner) / min(corner) in (1, high)
    assert len(ratio_corners(shares, high)) == 2**3 - 1 and len(set_corners(shares)) == 2**3 - 1


def test_weights_are_exact_or_refused():
    third = Fraction(1, 3)
    columns = [[third, 2 * third], [1 - third, third]]
    weights = exact_weights(columns, [Fraction(1), Fraction(1)])
    assert [sum(w * x for w, x in zip(weights, row)) for row in zip(*columns)] == [1, 1]
    with pytest.raises(SolverFailed):
        exact_weights([[Fraction(1), Fraction(2)]], [Fraction(1), Fraction(1)])


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (dict(measure="dp"), ValueError, "none of pml, lip"),
        (dict(measure="pml", lower=0.2), ValueError, "lower"),
        (dict(lower=-1), ValueError, "lower = -1"),
        (dict(epsilon=math.nan), ValueError, "epsilon"),
        (dict(prior=[1, 0]), InvalidPrior, "prior"),
        (dict(prior=[1 / 11] * 11), ValueError, "11 symbols"),
    ],
)
def test_nonsense_is_refused(arguments, error, message):
    given = dict(measure="lip", prior=[0.6, 0.4], epsilon=0.3) | arguments
    with pytest.raises(error, match=message):
        optimum_under(**given)
