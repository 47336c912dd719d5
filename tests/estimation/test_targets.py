"""The summed variance: derivatives, the bound of one matrix, and values, each against its definition."""

from fractions import Fraction

import numpy as np
import pytest

from pmlbook.estimation import estimation_variance
from pmlbook.estimation.listed_vertices import SummedVariance
from pmlbook.estimation.optimal_design import Spread
from pmlbook.foundations.probability import exact_prior
from pmlbook.release.mechanism import Mechanism


def test_a_claim_holds_for_every_mechanism():
    draw = np.random.default_rng(10)
    n, count = 4, 9
    shares = exact_prior([0.1, 0.2, 0.3, 0.4])
    p, scale = np.array(shares, dtype=float), np.array([2.0, 1.0, 0.5, 0.25])
    ones = scale * p / np.linalg.norm(scale * p)
    shifts = draw.uniform(-0.5, 0.5, (n, count))
    shifts -= p @ shifts
    weights = draw.dirichlet(np.ones(count))
    shifts -= (shifts @ weights)[:, None]  # an average of one
    lifts = ones[:, None] + shifts / scale[:, None]
    C = np.linalg.inv(((1 + shifts) * weights) @ (1 + shifts).T) - np.outer(p, p)
    goal = [[Fraction(i == k) - shares[k] for k in range(n)] for i in range(n)]
    full = np.array(goal, dtype=float) / scale[:, None]
    besides = np.column_stack([full[:, :2], 0.01 * (np.eye(n) - np.outer(ones, ones))])
    cases = (
        (SummedVariance(goal, scale, full), np.trace(C), "frequencies"),
        (
            SummedVariance([row[:2] for row in goal], scale, besides),
            C[0, 0] + C[1, 1],
            np.eye(n)[:, :2],
        ),
    )
    others = [Mechanism(draw.dirichlet(np.ones(6), n), p) for _ in range(20)]
    for criterion, value, target in cases:
        claim = criterion.claim(lifts, weights)
        assert abs(claim.value / value - 1) < 1e-12
        spread = (weights * claim.utility.at_lifts(1 + shifts, shifts, p)).sum()
        assert abs(claim.bound(Fraction(spread)) / value - 1) < 1e-12
        whole = (weights * Spread(claim.matrix).at_lifts(1 + shifts, shifts, p)).sum()
        assert abs(whole - spread - claim.slack) < 1e-12  # of the auxiliary functionals
        for other in others:
            reached = claim.utility.columns(other.channel, p).sum()
            least = claim.bound(Fraction(reached))
            assert least <= estimation_variance(other, target) * (1 + 1e-12)


def test_nothing_and_everything_revealed():
    flip = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
    assert estimation_variance(flip) == 2  # a float, so none above
    assert estimation_variance(Mechanism([[1]], [1])) == 0
    blind = Mechanism([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]], [0.5, 0.25, 0.25])
    assert estimation_variance(blind) == np.inf


def test_values_against_linear_algebra():
    draw = np.random.default_rng(10)
    for _ in range(20):
        other = Mechanism(draw.dirichlet(np.ones(6), 4), [0.1, 0.2, 0.3, 0.4])
        inverse = np.linalg.inv((other.channel / (other.prior @ other.channel)) @ other.channel.T)
        C = inverse - np.outer(other.prior, other.prior)
        assert estimation_variance(other) == pytest.approx(np.trace(C), rel=1e-9)


def test_outcomes_that_never_happen_tell_nothing():
    """They were divided by."""
    channel = np.array([[0.75, 0.25, 0], [0.25, 0.75, 0]])
    plain, more = (Mechanism(rows, [0.5, 0.5]) for rows in (channel[:, :2], channel))
    assert estimation_variance(more) == estimation_variance(plain)
