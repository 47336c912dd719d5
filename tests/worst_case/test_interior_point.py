"""The programme of the largest margin, its dual certificates, and the search that aims at a margin of zero."""

from functools import partial

import numpy as np
import pytest

from pmlbook.foundations.leakage import epsilon_pml
from pmlbook.foundations.probability import random_prior
from pmlbook.numerics.linear_programmes import maximise
from pmlbook.numerics.progress import Clock
from pmlbook.worst_case.dual_certificate import coverage, dual_certificate_bound
from pmlbook.worst_case.interior_point import (
    ENOUGH,
    AllowedPairs,
    Margin,
    Newton,
    Point,
    Visit,
    _next_lift,
    rounded,
    search,
)


def drawn(rng, largest=7):
    """A table in which every input and every output has a pair, and a prior."""
    n, m = rng.integers(1, largest, size=2)
    mask = rng.random((n, m)) < 0.6
    mask[np.arange(n), rng.integers(m, size=n)] = True
    return mask[:, mask.any(axis=0)], random_prior(n, rng)


def test_sums_over_pairs_are_sums_over_the_table():
    rng = np.random.default_rng(1)
    for _ in range(20):
        mask, prior = drawn(rng)
        pairs, full = AllowedPairs(mask, prior), rng.normal(size=mask.shape) * mask
        values = full[pairs.row, pairs.column]
        assert np.array_equal(pairs.matrix(values), full)
        assert np.allclose(pairs.by_input(values), full.sum(axis=1), rtol=0, atol=1e-13)
        assert np.allclose(pairs.mean(values), prior @ full, rtol=0, atol=1e-13)
        largest = np.where(mask, full, -np.inf).max(axis=0)
        assert np.array_equal(pairs.largest(values), largest)
        assert abs(pairs.count - mask.shape[1] - 2 * (prior @ mask).sum()) < 1e-12


def test_a_move_solves_all_linear_equations():
    """Newton's equations, written out, at points that are neither feasible nor central."""
    rng = np.random.default_rng(2)
    close = partial(np.allclose, rtol=0, atol=1e-9)
    for _ in range(20):
        mask, prior = drawn(rng)
        pairs, theta = AllowedPairs(mask, prior), rng.uniform(0.2, 0.9)
        row, column, share = pairs.row, pairs.column, pairs.share
        n, m, size = *mask.shape, len(row)
        weights = rng.dirichlet(np.ones(m))
        sizes = {"cap": m, "slack": m, "beta": m, "y": n}
        at = Point(*(rng.uniform(0.5, 2, sizes.get(name, size)) for name in Point._fields))
        at = at._replace(margin=-0.3)
        wanted = [rng.normal(size=k) for k in (m, size, size)]
        move = Newton(pairs, theta, weights, at).move(*wanted)
        then = Point(*(old + new for old, new in zip(at, move)))
        assert close(pairs.by_input(then.flow), 1)
        assert close(then.room, then.cap[column] - then.flow)
        demand = theta * then.cap + then.margin * weights + then.slack
        assert close(np.bincount(column, share * then.flow, m), demand)
        assert close(then.z - then.w, then.y[row] + then.beta[column])
        assert close(np.bincount(column, share * then.z, m), theta * then.beta)
        assert abs(then.beta @ weights - 1) < 1e-9
        got = (
            at.slack * move.beta + at.beta * move.slack,
            at.room * move.z + at.z * move.room,
            at.flow * move.w + at.w * move.flow,
        )
        assert all(close(one, other) for one, other in zip(got, wanted))


def test_steps_end_at_the_border():
    sides = np.array([1.0, 2.0])
    at = Point(sides, sides, sides, sides, 0.0, sides, sides, sides, sides)
    still = np.zeros(2)
    fall = at._replace(flow=np.array([-4.0, 1.0]), beta=np.array([0.0, -1.0]))
    fall = fall._replace(cap=still - 9, room=still, slack=still, y=still - 9, z=still, w=still)
    assert at.longest(fall, 1.0) == (0.25, 1.0)  # caps and y may have any sign
    assert at.longest(fall._replace(beta=-at.beta), 0.5) == (0.125, 0.5)
    assert at.moved(fall, 0.25, 1.0).flow.tolist() == [0, 2.25]
    assert at.moved(fall, 0.25, 1.0).beta.tolist() == [1, 1]


def test_the_start_is_strictly_inside():
    rng = np.random.default_rng(3)
    for _ in range(20):
        mask, prior = drawn(rng)
        programme = Margin(
            AllowedPairs(mask, prior), rng.uniform(1, 9), rng.uniform(0.1, 1, mask.shape[1])
        )
        at = programme.start()
        missed = Newton(programme.pairs, programme.theta, programme.weights, at).missed
        assert max(np.abs(one).max() for one in missed) < 1e-12
        assert min(one.min() for one in (at.flow, at.room, at.slack, at.beta, at.z, at.w)) > 0
        assert at.margin < programme.limit(at)


def test_a_margin_between_its_ends():
    """The margin of the fair draw from below; any dual variables from above."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        mask, prior = drawn(rng)
        fair = mask / mask.sum(axis=1, keepdims=True)
        lift, outcome = rng.uniform(1, 5), prior @ fair
        programme = Margin(AllowedPairs(mask, prior), lift, outcome)
        at = programme.solve(Clock())
        own = (1 - fair.max(axis=0) / (lift * outcome)).min()
        assert own <= programme.limit(at) + 1e-9 and at.margin <= programme.limit(at) + 1e-9


def test_outputs_without_use_are_left_out():
    prior, mask = np.array([0.5, 0.5]), np.ones((2, 2), dtype=bool)
    pairs = AllowedPairs(mask, prior)
    flow = np.array([1 - 1e-9, 1.0, 1e-9, 0.0])  # the second output occurs once in a billion
    channel, largest = rounded(pairs, flow, 1.0)
    assert channel.tolist() == [[1, 0], [1, 0]] and largest == 1
    flow = np.array([1.0, 0.0, 0.0, 1.0])  # nothing can be left out
    channel, largest = rounded(pairs, flow, 1.5)
    assert channel.tolist() == [[1, 0], [0, 1]] and largest == 2


def test_the_next_lift_is_in_the_bracket():
    visit = Visit(2.0, -0.1, 2.1, 3.0)
    aim = 1 / (0.5 - 0.1)
    assert abs(_next_lift(visit, 1.0, [visit]) - (aim - 0.1 * (aim - 2))) < 1e-12
    assert _next_lift(visit, 0.2, [visit]) == 2.1  # the aim is not below zero: back to the end
    near = Visit(2.0, -1e-4, 2.0, 3.0)
    step = 1 / (0.5 - 1e-4) - 2
    assert abs(_next_lift(near, 1.0, [near]) - (2 + step - step**2 / 2)) < 1e-12
    above = Visit(2.5, 0.1, 2.1, 3.0)  # 2.5 is possible
    assert 2.1 < _next_lift(above, 4.0, [above]) < 1 / 0.425
    stuck = Visit(2.1, 0.0, 2.1, 3.0)
    assert abs(_next_lift(stuck, 1.0, [stuck]) - 2.1) < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_both_ends_meet_where_the_coverage_is_one(seed):
    rng = np.random.default_rng([40, seed])
    for _ in range(12):
        mask, prior = drawn(rng, 9)
        channel, dual, visits = search(mask, prior)
        lower, upper = (
            dual_certificate_bound(mask, prior, dual),
            np.exp(epsilon_pml(channel, prior)),
        )
        assert not channel[~mask].any() and lower * (1 - 1e-12) <= upper
        assert upper <= lower * (1 + 2 * ENOUGH) and all(v.lift >= 1 - 1e-12 for v in visits)
        certain = max(
            dual_certificate_bound(mask, prior, someone) for someone in np.eye(len(prior))
        )
        assert not visits or abs(visits[0].lift / certain - 1) < 1e-12
        assert len(visits) < 15
        assert coverage(mask, prior, upper * (1 + 1e-6)).share > 1 - 1e-9
        assert upper < 1 + 1e-6 or coverage(mask, prior, upper * (1 - 1e-4)).share < 1 - 1e-9


def test_hundreds_of_pairs_and_no_vertex():
    """A table too large for a simplex method at the end: the ends meet without it, in a second or two."""
    rng = np.random.default_rng(5)
    mask = rng.random((90, 90)) < 0.6
    mask[np.arange(90), rng.integers(90, size=90)] = True
    prior = random_prior(90, rng)
    channel, dual, visits = search(mask, prior)
    assert 2 < len(visits) < 15 and visits[-1].gap < ENOUGH
    lower, upper = dual_certificate_bound(mask, prior, dual), np.exp(epsilon_pml(channel, prior))
    assert lower * (1 - 1e-12) <= upper <= lower * (1 + 2 * ENOUGH)


@pytest.mark.parametrize("rarest", [1e-9, 1e-30, 1e-120])
def test_rare_secrets_in_floats(rarest):
    """Dual variables are scaled by the prior, so that a rare secret is no smaller than another."""
    rng = np.random.default_rng(6)
    for _ in range(10):
        mask, prior = drawn(rng)
        prior[rng.integers(len(prior))] = rarest
        prior /= prior.sum()
        _, _, visits = search(mask, prior)
        assert not visits or visits[-1].gap < ENOUGH


def test_without_time_the_ends_are_those_of_the_start():
    rng = np.random.default_rng(7)
    mask, prior = drawn(rng)
    channel, dual, visits = search(mask, prior, Clock(0))
    assert visits == [] and np.allclose(
        channel, mask / mask.sum(axis=1, keepdims=True), rtol=0, atol=1e-15
    )
    assert sorted(dual)[-1] == 1


def test_a_tiny_programme_agrees_with_another_solver():
    """Two secrets, one outcome in common: the margin by HiGHS, in the variables c = s - p."""
    prior, mask = np.array([0.7, 0.3]), np.array([[True, False], [True, True]])
    for lift in (1.1, 1.5, 2.0):
        programme = Margin(AllowedPairs(mask, prior), lift, np.array([0.5, 0.5]))
        at, theta = programme.solve(Clock()), 1 / lift
        # x = p_21, s_1, s_2, margin + 9; the first secret announces outcome 1
        rows = [
            [-0.3, theta, 0, 0.5],  # 0.7 + 0.3 x >= theta s_1 + margin / 2
            [0.3, 0, theta, 0.5],  # 0.3 (1 - x) >= theta s_2 + margin / 2
            [1, -1, 0, 0],
            [-1, 0, -1, 0],
        ]
        right = [0.7 + 4.5, 0.3 + 4.5, 0, -1]
        bounds = [(0, 1), (1, None), (0, None), (0, None)]
        known = maximise([0, 0, 0, 1], at_most=(rows, right), bounds=bounds)
        assert at.margin - 1e-8 <= known.value - 9 <= programme.limit(at) + 1e-8
