"""The programme of the largest margin: its points, Newton's equations, and another solver's value."""

from functools import partial

import numpy as np
from allowed_tables import drawn

from pmlbook.numerics.linear_programmes import maximise
from pmlbook.numerics.progress import Clock
from pmlbook.worst_case.margin import AllowedPairs, Margin, Newton, Point


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
        assert close(then.cap_slack, then.cap[column] - then.flow)
        demand = theta * then.cap + then.margin * weights + then.slack
        assert close(np.bincount(column, share * then.flow, m), demand)
        assert close(then.z - then.w, then.y[row] + then.beta[column])
        assert close(np.bincount(column, share * then.z, m), theta * then.beta)
        assert abs(then.beta @ weights - 1) < 1e-9
        got = (
            at.slack * move.beta + at.beta * move.slack,
            at.cap_slack * move.z + at.z * move.cap_slack,
            at.flow * move.w + at.w * move.flow,
        )
        assert all(close(one, other) for one, other in zip(got, wanted))


def test_steps_end_at_the_border():
    sides = np.array([1.0, 2.0])
    at = Point(sides, sides, sides, sides, 0.0, sides, sides, sides, sides)
    still = np.zeros(2)
    fall = at._replace(flow=np.array([-4.0, 1.0]), beta=np.array([0.0, -1.0]))
    fall = fall._replace(cap=still - 9, cap_slack=still, slack=still, y=still - 9, z=still, w=still)
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
        assert min(one.min() for one in (at.flow, at.cap_slack, at.slack, at.beta, at.z, at.w)) > 0
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
