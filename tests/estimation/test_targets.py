"""Targets: roots, derivatives, claims and values, each against its definition."""

import math
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np

from pmlbook.estimation.optimal_design import Spread
from pmlbook.estimation.targets import (
    AOptimality,
    DOptimality,
    EOptimality,
    _float_largest,
    estimation_variance,
    generalised_variance,
    inner,
    largest_variance,
    min_float,
    root_above,
    root_below,
)
from pmlbook.foundations.probability import exact_prior
from pmlbook.release.mechanism import Mechanism


def test_roots_are_enclosed():
    for x in (
        Fraction(0),
        Fraction(1, 3),
        Fraction(2),
        Fraction(8),
        Fraction(10) ** 40,
        Fraction(1, 10**300),
    ):
        for k in (1, 2, 3, 7):
            above, below = root_above(x, k), root_below(x, k)
            assert Fraction(below) ** k <= x <= Fraction(above) ** k
            assert above == below or (
                above == math.nextafter(below, math.inf) and Fraction(above) ** k != x
            )


def test_the_least_float_that_passes():
    for least in (5e-324, 1e-300, 0.1, 1.0, 3e200):
        for guess in (least, 5e-324, 2 * least, 0.3 * least, 1e3):
            asked = []
            assert (
                min_float(lambda x, least=least, asked=asked: asked.append(x) or x >= least, guess)
                == least
            )
            assert len(asked) < 6 if guess == least else len(asked) < 4600


class Drawn(NamedTuple):
    """A mechanism with nine outcomes for four secrets, and each criterion with its value and its functionals."""

    p: np.ndarray
    scale: np.ndarray
    shifts: np.ndarray
    weights: np.ndarray
    lifts: np.ndarray
    goal: list
    full: np.ndarray
    criteria: list


def drawn(draw):
    n, count = 4, 9
    shares = exact_prior([0.1, 0.2, 0.3, 0.4])
    p, scale = np.array(shares, dtype=float), np.array([2.0, 1.0, 0.5, 0.25])
    ones = scale * p / np.linalg.norm(scale * p)
    shifts = draw.uniform(-0.5, 0.5, (n, count))
    shifts -= p @ shifts
    weights = draw.dirichlet(np.ones(count))
    shifts -= (shifts @ weights)[:, None]  # an average of one
    lifts = ones[:, None] + shifts / scale[:, None]
    J = ((1 + shifts) * weights) @ (1 + shifts).T
    C = np.linalg.inv(J) - np.outer(p, p)
    goal = [[Fraction(i == k) - shares[k] for k in range(n)] for i in range(n)]
    full = np.array(goal, dtype=float) / scale[:, None]
    few = np.array(goal, dtype=float)[:, :2] / scale[:, None]
    besides = np.column_stack([few, 0.01 * (np.eye(n) - np.outer(ones, ones))])
    criteria = [
        (AOptimality(goal, scale, full), np.trace(C), "frequencies"),
        (
            AOptimality([row[:2] for row in goal], scale, besides),
            C[0, 0] + C[1, 1],
            np.eye(n)[:, :2],
        ),
        (DOptimality(shares, scale), np.linalg.det(C[1:, 1:]) ** (1 / (n - 1)), "determinant"),
        (EOptimality(goal, scale, full), np.linalg.eigvalsh(C)[-1], "largest"),
    ]
    return Drawn(p, scale, shifts, weights, lifts, goal, full, criteria)


def test_derivatives_are_what_small_changes_make():
    draw = np.random.default_rng(10)
    assert inner(
        np.array([[1.0, 2], [3, 4]]), [[Fraction(1, 3), Fraction(2)], [Fraction(0), Fraction(1, 7)]]
    ) == Fraction(1, 3) + 6 + Fraction(4, 7)
    case = drawn(draw)
    for (criterion, _, _), barrier in product(case.criteria, (1e-3, 0.5)):

        def at(part, step, criterion=criterion, barrier=barrier):
            return criterion.value(case.lifts, case.weights * (1 + part * step), barrier)

        slope, curve = criterion.slopes(case.lifts, case.weights, barrier)
        for _ in range(3):
            step, h = draw.normal(size=len(case.weights)), 1e-4
            rise = (at(h, step) - at(-h, step)) / (2 * h)
            bend = (at(h, step) - 2 * at(0, step) + at(-h, step)) / h**2
            size = 1e-5 * (1 + abs(slope) @ abs(step) + abs(step) @ abs(curve) @ abs(step))
            assert abs(rise - slope @ step) < size and abs(bend - step @ curve @ step) < size


def test_a_claim_holds_for_every_mechanism():
    draw = np.random.default_rng(10)
    case = drawn(draw)
    criteria, shifts, weights, p = case.criteria, case.shifts, case.weights, case.p
    others = [Mechanism(draw.dirichlet(np.ones(6), len(p)), p) for _ in range(20)]
    for criterion, value, target in criteria:
        claim = criterion.claim(case.lifts, weights, 1e-7)
        near = (
            1e-6 if isinstance(criterion, EOptimality) else 1e-12
        )  # the barrier's questions are not quite the worst
        assert abs(claim.value / value - 1) < 1e-12
        spread = (weights * claim.utility.at_lifts(1 + shifts, shifts, p)).sum()
        assert (
            abs(claim.bound(Fraction(spread)) / value - 1) < near
        )  # what these weights have themselves
        whole = (weights * Spread(claim.matrix).at_lifts(1 + shifts, shifts, p)).sum()
        assert (
            abs(whole - spread - claim.slack) < 1e-12
        )  # of the functionals that are estimated besides
        for other in others:
            reached = claim.utility.columns(other.channel, p).sum()
            assert claim.bound(Fraction(reached)) <= estimation_variance(other, target) * (
                1 + 1e-12
            )


def test_the_best_level_of_the_barrier():
    case = drawn(np.random.default_rng(10))
    for far, k in ((1, 1), (100, 2)):  # where its slope is one
        big = EOptimality(case.goal, case.scale, 10.0**k * case.full)
        left = big._parts(case.lifts, case.weights, far * 1e-3)[2]
        assert abs((far * 1e-3 / left).sum() - 1) < 1e-12 and left.min() > 0


def test_nothing_and_everything_revealed():
    words = ("frequencies", "determinant", "largest")
    flip = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
    assert [estimation_variance(flip, word) for word in words] == [2, 1, 2]  # floats, so none above
    assert [estimation_variance(Mechanism([[1]], [1]), word) for word in words] == [0, 0, 0]
    blind = Mechanism([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]], [0.5, 0.25, 0.25])
    assert [estimation_variance(blind, word) for word in words] == 3 * [np.inf]


def test_values_against_linear_algebra():
    draw = np.random.default_rng(10)
    n = 4
    shares = exact_prior([0.1, 0.2, 0.3, 0.4])
    p = np.array(shares, dtype=float)
    others = [Mechanism(draw.dirichlet(np.ones(6), n), p) for _ in range(20)]
    for other in others:
        channel, distribution = other.channel, other.prior
        J = (channel / (distribution @ channel)) @ channel.T
        C = np.linalg.inv(J) - np.outer(distribution, distribution)
        most = np.linalg.eigvalsh(C)[-1]
        assert (
            abs(_float_largest(other) / most - 1) < 1e-9 > abs(largest_variance(other) / most - 1)
        )
        assert abs(generalised_variance(other) / np.linalg.det(C[1:, 1:]) ** (1 / 3) - 1) < 1e-9


def test_two_secrets_have_one_variance():
    draw = np.random.default_rng(10)
    words = ("frequencies", "determinant", "largest")
    for _ in range(20):  # two secrets: one variance, and all is known of it
        pair = Mechanism(draw.dirichlet(np.ones(3), 2), draw.dirichlet(np.ones(2)))
        one, sum_of_both, worst = (
            estimation_variance(pair, word) for word in (words[1], *words[::2])
        )
        assert sum_of_both == worst and worst / 2 <= one <= math.nextafter(worst / 2, np.inf)
