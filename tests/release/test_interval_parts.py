"""The parts of an interval: nested sets, bounds, limits that fit, distances, and the ends of a convex programme."""

import math
from fractions import Fraction

import numpy as np
import pytest
from refusals import refusal
from scipy.optimize import brentq, minimize
from scipy.stats import binom, power_divergence
from scipy.stats import t as student

from pmlbook.foundations.classic import randomized_response
from pmlbook.numerics.linear_programmes import Infeasible
from pmlbook.release.intervals import (
    Within,
    _least_within,
    _nearest,
    clopper_pearson,
    count_distances,
    ends_that_fit,
    exact_interval,
    min_value,
    nested_sets,
    score_interval,
)
from pmlbook.release.sampling import UNITS, to_weights

plain = np.eye(2)


class Fits:
    """Stands for programmes that become feasible after some calls, and remembers the limits."""

    def __init__(self, refused, crossed=False):
        self.refused, self.crossed, self.limits = refused, crossed, []

    def __call__(self, seen, low, high):
        self.limits.append((low, high))
        if len(self.limits) > self.refused:
            return 0.25, 0.75
        if self.crossed:
            return 0.5, 0.25
        raise Infeasible("not yet")


def nudged(function, x, step=1e-6):
    """Derivatives by relative changes of each coordinate, by differences; the last axis is the coordinate."""
    ends = [(function(x * (1 + u)), function(x * (1 - u))) for u in step * np.eye(len(x))]
    return np.transpose([(there - back) / (2 * step) for there, back in ends])


distribution, counts = np.array([0.5, 0.3, 0.2]), np.array([7.0, 0, 4])
noisy = randomized_response(3, 1.0)


def wilson(n, k, z2):
    """IntervalEnds of Wilson's interval for one binomial: the roots of a quadratic equation."""
    root = math.sqrt(z2 * k * (n - k) / n**3 + (z2 / 2 / n) ** 2)
    return [(k / n + z2 / 2 / n + sign * root) / (1 + z2 / n) for sign in (-1, 1)]


def wilks(n, k, z2):
    """IntervalEnds of the likelihood's interval for one binomial, by bisection."""

    def excess(q):
        return 2 * (binom.logpmf(k, n, k / n) - binom.logpmf(k, n, q)) - z2

    low = brentq(excess, 1e-15, k / n, xtol=1e-14) if k > 0 else 0.0
    return low, brentq(excess, k / n, 1 - 1e-15, xtol=1e-14) if k < n else 1.0


def test_what_is_no_count_or_no_tail_is_refused():
    clopper_pearson([0, 3], 3, 1e-100), clopper_pearson(1, 3, np.nextafter(1, 0))
    no_counts = [([0, 4], 0.1), ([-1, 3], 0.1), (np.nan, 0.1)]
    for counts, tail in [*no_counts, (1, np.nextafter(1e-100, 0)), (1, 1), (1, np.nan)]:
        assert refusal(clopper_pearson, counts, 3, tail)


def test_nested_sets_sum_to_the_weights():
    rng = np.random.default_rng(4)
    for weights in (np.array([0, 1.5e-9, 1]), np.array([3.0, 1, 3, 2]), np.array([0.0, 7, -7])):
        sets = nested_sets(weights)
        distribution = rng.dirichlet(np.ones(len(weights)))
        order = np.unique(weights)
        assert len(sets) == len(order) - 1 and (np.diff(sets.sum(axis=1)) < 0).all()
        told = order[0] + np.diff(order) @ (sets @ distribution)
        assert np.isclose(told, weights @ distribution, rtol=0, atol=1e-14)
    for one in ([100, 100 + 0.9e-9, 101], [0, 5e-7, 1000], [-1, 1 - 1.8e-9, 1]):
        assert len(nested_sets(np.array(one))) == 1
    for two in ([100, 100 + 1e-8, 101], [0, 1.5e-6, 1000], [-1, 1 - 2.2e-9, 1]):
        assert len(nested_sets(np.array(two))) == 2
    assert nested_sets(np.array([2.0, 2.0])).shape == (0, 2)


def test_the_least_value_of_two_secrets_in_fractions():
    rng = np.random.default_rng(4)
    for scale in (1e-9, 1.0, 1e9, 0.0):
        for _ in range(8):
            units, goal = to_weights(rng.dirichlet(np.ones(2), size=2)), scale * rng.normal(size=2)
            seen = [[row[1]] for row in units.tolist()]
            a, b = (Fraction(row[0], UNITS) for row in seen)
            share = [
                Fraction(s) for s in np.sort(rng.random(2)).tolist()
            ]  # what fits, and its limits
            limits = sorted(float(a + s * (b - a)) for s in share)
            fit = sorted((Fraction(q) - a) / (b - a) for q in limits)
            start, slope = Fraction(goal[0]), Fraction(goal[1]) - Fraction(goal[0])
            optimum = min(start + slope * min(max(s, Fraction(0)), Fraction(1)) for s in fit)
            bound = Fraction(min_value(goal, seen, *np.array(limits)[:, None]))
            assert 0 <= optimum - bound <= Fraction(scale) / 10**12


def test_the_least_value_of_three_secrets_by_trying():
    rng = np.random.default_rng(4)
    for scale in (1e-9, 1e9):
        units, goal = to_weights(rng.dirichlet(np.ones(4), size=3)), scale * rng.normal(size=3)
        sets = nested_sets(np.array([0.0, 1, 2, 3])).T
        fine = rng.dirichlet(np.ones(3), size=4000)
        seen = units @ sets
        told = fine @ (seen / UNITS)
        low, high = told[0] * 0.9, np.minimum(1, told[0] * 1.1)
        best = (fine @ goal)[((low <= told) & (told <= high)).all(axis=1)].min()
        bound = min_value(goal, seen.tolist(), low, high)
        assert 0 <= best - bound <= 0.1 * scale


def test_limits_widen_until_they_fit():
    noisy, one = randomized_response(3, 1.0), np.array([[True, False, False], [True, True, False]])
    for refused, crossed, calls in [(0, False, 1), (1, False, 3), (3, False, 5), (1, True, 3)]:
        asked = Fits(refused, crossed)
        assert ends_that_fit(noisy, np.array([2.0, 0, 7]), one, 0.875, asked) == (0.25, 0.75)
        assert len(asked.limits) == calls
        for k, (low, high) in enumerate(asked.limits):
            plain_low, plain_high = clopper_pearson([2, 2], 9, 0.125 / 4**k / 4)
            for inner, outer in ((low, plain_low), (plain_high, high)):
                wider = [Fraction(b) - Fraction(a) for a, b in zip(inner, outer)]
                assert all(Fraction(3, 2**52) < room < Fraction(13, 2**52) for room in wider)
    nobody = Fits(0)
    ends_that_fit(noisy, np.array([0.0, 0, 9]), one, 0.875, nobody)
    assert (nobody.limits[0][0] == 0).all()
    all_of_them = Fits(0)
    ends_that_fit(noisy, np.array([9.0, 0, 0]), one, 0.875, all_of_them)
    assert (all_of_them.limits[0][1] == 1).all()
    never = Fits(1000)
    try:
        ends_that_fit(noisy, np.array([2.0, 0, 7]), one, 0.875, never)
        raise RuntimeError("limits that nothing satisfies")
    except ValueError as error:
        last = float(str(error).split()[-1])
    assert 1e-12 * 0.125 <= 4 ** -(len(never.limits) - 1) * 0.125 < 4e-12 * 0.125
    assert np.isclose(last, 4.0 ** -(len(never.limits) - 1) * 0.125, rtol=0.5, atol=0)


def test_a_functional_without_sets_and_one_that_no_outcome_determines():
    told, noisy = Fits(0), randomized_response(3, 1.0)
    one = np.array([[True, False, False], [True, True, False]])
    assert ends_that_fit(noisy, np.array([2.0, 0, 7]), one[:0], 0.875, told) == (0.25, 0.75)
    for goal in (np.array([-3.0, 1, 2]), np.array([5.0, 5, 5])):
        ends = exact_interval(noisy, np.array([1.0, 0, 0]), noisy @ goal, goal, 0.95)
        assert goal.min() <= ends[0] <= ends[1] <= goal.max()


def test_distances_are_those_of_scipy():
    for distance, kind in zip(count_distances(noisy, counts), ("log-likelihood", "pearson")):
        known = power_divergence(counts, 11 * distribution @ noisy, lambda_=kind).statistic
        assert np.isclose(distance.value(distribution), known, rtol=1e-12, atol=0)


@pytest.mark.parametrize("parameter", [1.0, 1e-3])
def test_derivatives_are_those_by_differences(parameter):
    for distance in count_distances(noisy, counts):
        within = Within(distance, distance.value(distribution) + 2, np.array([0.2, 0, 1]))
        for smooth in (distance, within):
            slope, bend = smooth.slopes(distribution, parameter)
            found = nudged(lambda x, f=smooth: f.value(x, parameter), distribution)
            assert np.allclose(slope, found, rtol=1e-6, atol=1e-7)
            # a gradient by relative changes is x times the plain one, which changes too
            found = nudged(lambda x, f=smooth: f.slopes(x, parameter)[0] / x, distribution)
            assert np.allclose(bend, distribution[:, None] * found, rtol=1e-5, atol=1e-6)


def test_outside_its_distance_a_programme_is_infinite():
    distance = count_distances(noisy, counts)[0]
    within = Within(distance, distance.value(distribution), distribution)
    assert within.value(distribution, 1.0) == math.inf  # no slack


def peer(distance, most, goal, start):
    """The least goal . x within a distance, by SciPy, whose method is another one."""
    ones = np.ones(len(start))
    total = {"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: ones}
    within = {
        "type": "ineq",
        "fun": lambda x: most - distance.value(x),
        "jac": lambda x: -distance.slopes(x)[0] / x,  # which is by relative changes
    }
    bounds, options = [(1e-9, 1)] * len(start), {"maxiter": 500, "ftol": 1e-10}
    found = minimize(
        lambda x: goal @ x,
        start,
        jac=lambda x: goal,
        bounds=bounds,
        options=options,
        method="SLSQP",
        constraints=[total, within],
    )
    assert distance.value(found.x) < most + 1e-8 and abs(found.x.sum() - 1) < 1e-12
    return goal @ found.x


@pytest.mark.parametrize("n, people", [(20, 1000), (80, 1000)])
def test_no_frequencies_within_the_distance_lie_beyond_an_end(n, people):
    """With eighty secrets the method once stopped on its way, and its ends were a tenth too near."""
    rng = np.random.default_rng(5)
    channel, goal = randomized_response(n, 1.0), rng.random(n)
    goal = (goal - goal.min()) / np.ptp(goal)
    counts = rng.multinomial(people, np.full(n, 1 / n)).astype(float)
    for distance in count_distances(channel, counts):
        nearest = _nearest(distance, n)
        most = distance.value(nearest) + 4
        end = _least_within(distance, most, goal, nearest)
        other = peer(distance, most, goal, nearest)
        assert end < other + 1e-8 and other - end < 1e-6


def test_one_binomial_has_known_ends():
    goal = np.array([0.0, 1.0])
    for people, k, confidence in [(1, 1, 0.9), (12, 0, 0.95), (40, 9, 0.95), (500, 499, 0.99)]:
        counts, z2 = (
            np.array([people - k, k], float),
            student.ppf((1 + confidence) / 2, people) ** 2,
        )
        known = wilks(people, k, z2), wilson(people, k, z2)
        for distance, (low, high) in zip(count_distances(plain, counts), known):
            centre = _nearest(distance, 2)
            assert distance.value(centre) < 1e-2 and (centre > 0).all()
            least = _least_within(distance, z2, goal, centre)
            most = 1 - _least_within(distance, z2, 1 - goal, centre)
            assert low - 1e-7 < least <= max(low, 1e-13) and high - 1e-13 <= most < high + 1e-7
            assert least >= 0 and most <= 1
        union = np.array([min(known[0][0], known[1][0]), max(known[0][1], known[1][1])])
        ends = np.array(score_interval(plain, counts, goal, confidence))
        assert np.allclose(ends, union, rtol=2e-3, atol=1e-7)


def test_a_functional_takes_its_interval_along():
    goal = np.array([0.0, 1.0])
    people, k, confidence = 40, 9, 0.95
    counts, z2 = np.array([31.0, 9]), student.ppf(0.975, 40) ** 2
    ends = np.array(score_interval(plain, counts, goal, confidence))
    moved = score_interval(plain, counts, 3 * goal - 7, confidence)
    assert np.allclose(moved, 3 * ends - 7, rtol=0, atol=1e-12)
    turned = score_interval(plain, counts, -goal, confidence)
    assert np.allclose(turned, -ends[::-1], rtol=0, atol=1e-12)
    parted = score_interval(plain, counts, goal, confidence, 0.25)
    fewer = wilks(people, k, z2 / 4), wilson(people, k, z2 / 4)
    inner = [min(fewer[0][0], fewer[1][0]), max(fewer[0][1], fewer[1][1])]
    assert np.allclose(parted, inner, rtol=5e-3, atol=1e-7)
    none = score_interval(plain, counts, goal, confidence, 0.0)
    assert np.allclose(none, k / people, rtol=0, atol=2e-2)


def test_the_centre_is_nearly_the_likeliest():
    counts = np.array([0.0, 3, 1, 6])
    likelihood = count_distances(np.eye(4), counts)[0]
    centre = _nearest(likelihood, 4)  # of 20736 times the distance and the barrier, nearly
    assert np.allclose(centre, (41472 * counts + 1) / (414720 + 4), rtol=0.3, atol=0)


def test_ends_of_a_constant_and_of_one_person():
    goal = np.array([0.0, 1.0])
    assert score_interval(plain, np.array([1.0, 2]), np.array([4.0, 4]), 0.9) == (4, 4)
    alone = score_interval(plain, np.array([1.0, 0]), goal, 1 - 2.0**-53)
    assert alone[0] == 0 and 0.99 < alone[1] <= 1
