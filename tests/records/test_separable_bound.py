"""The separable bound: its parts by definition, its supremum in fifty digits, its derivatives and its scope."""

import mpmath as mp
import numpy as np
from scipy.special import entr

from pmlbook.foundations.classic import binary_symmetric, geometric
from pmlbook.numerics.progress import Clock
from pmlbook.records.classes import record_problem
from pmlbook.records.queries import Query, SumQuery, counting, modular_sum, parity
from pmlbook.records.separable_bound import (
    POSTERIOR_GRID,
    DualPiece,
    DualVariables,
    OutputCurves,
    SeparableRows,
    bounded_piece,
    dual_value,
    interval_bounds,
    minimise_dual,
    omitted_information,
    separable_bound,
    separable_rows,
    starting_dual,
    sum_of_maxima,
)
from pmlbook.records.tilted import LeakageClaim, best_adversary, own_multiplier

rng = np.random.default_rng(7)


worlds = [counting(3), parity(4), modular_sum(4, 3), Query(lambda x: 2 * x[0] + x[1], [(0, 1)] * 2)]


def drawn_world(k):
    query = worlds[k % 4]
    n = query.n_values
    truth = rng.dirichlet(np.full(n, 0.5)) if k % 3 else np.full(n, rng.uniform(0.2, 0.9))
    channel = truth[:, None] * np.eye(n) + (1 - truth[:, None]) * rng.dirichlet(np.ones(n))
    if k % 5 == 4:
        channel = rng.dirichlet(np.full(n, 0.5), size=n)
    return record_problem(query, channel, 0)


def drawn_prior(problem):
    present = np.isfinite(problem.log_counts)
    prior = rng.dirichlet(np.full(present.size, rng.choice([0.2, 2]))).reshape(present.shape)
    return prior * present / (prior * present).sum()


def exactly(parts, dual, distribution, y, t):
    seen = mp.log(t) if t else mp.mpf(-700), mp.log(1 - t) if t < 1 else mp.mpf(-700)
    total = mp.mpf(0)
    for a in range(2):
        total += mp.mpf(distribution[a]) * mp.mpf(parts.common[a, y]) * seen[a]
        for height, share in zip(parts.height[a, y], parts.shares[a, y]):
            x = mp.mpf(height) * seen[a] - mp.mpf(dual.belief[a])
            total += dual.multiplier * mp.mpf(share) * mp.exp(x / dual.multiplier - 1)
    return total


def at_distribution(parts, dual, share, cell):
    distribution = np.array([share, 1 - share])
    fixed = entr(distribution).sum() + dual.belief @ distribution + dual.multiplier * 0.1
    return fixed + sum_of_maxima(OutputCurves(parts, dual, distribution), cell, 1e-10)


def test_rows_are_what_is_common_and_the_peaks():
    for trial in range(40):
        problem = drawn_world(trial)
        parts, prior = separable_rows(problem), drawn_prior(problem)
        rebuilt = np.zeros(problem.rows.shape)
        for a in range(2):
            for c in np.flatnonzero(np.isfinite(problem.log_counts[a])):
                y, spot = divmod(parts.place[a, c], parts.height.shape[2])
                rebuilt[a, c] = parts.common[a]
                rebuilt[a, c, y] += parts.height[a, y, spot]
                assert parts.shares[a, y, spot] == np.exp(problem.log_shares[a, c])
        present = np.isfinite(problem.log_counts)[..., None]
        off = (problem.rows - rebuilt) * present
        assert (off >= 0).all() and abs(parts.shares.sum() - 1) < 1e-12
        lost, both = np.einsum("ac,acm->am", prior, off), problem.outputs(prior)
        cost = -(lost * np.log(both / both.sum(axis=0))).sum()
        assert abs(omitted_information(problem, parts, prior) - cost) < 1e-13
        assert trial % 3 or trial % 5 == 4 or cost < 1e-14


def test_the_supremum_in_fifty_digits():
    mp.mp.dps = 50
    for trial in range(16):
        m, most = 2, 1 + trial % 2
        common = rng.uniform(0, 0.3, size=(2, m)) * rng.integers(0, 2, size=(2, m))
        shares = rng.dirichlet(np.ones(2 * m * most)).reshape(2, m, most)
        parts = SeparableRows(
            common, rng.uniform(0, 0.9, size=(2, m, most)), shares, np.zeros((2, 1), int)
        )
        multiplier = float(rng.choice([0.1, 0.5, 2]))
        dual = DualVariables(multiplier, multiplier * rng.normal(size=2))
        share = rng.uniform(0.1, 0.9)
        ends = np.sort(rng.choice(POSTERIOR_GRID, size=(2, m)), axis=0)
        distribution, fine = np.array([share, 1 - share]), float(rng.choice([1e-3, 1e-6]))
        curves = OutputCurves(parts, dual, distribution)
        found, total = sum_of_maxima(curves, ends, fine), mp.mpf(0)
        for y in range(m):
            inside = POSTERIOR_GRID[(ends[0, y] <= POSTERIOR_GRID) & (POSTERIOR_GRID <= ends[1, y])]
            net = [*np.linspace(ends[0, y], ends[1, y], 40), *inside]
            total += max(exactly(parts, dual, distribution, y, mp.mpf(float(t))) for t in net)
        near = curves.local_maxima(ends)[0]
        reached = sum(
            exactly(parts, dual, distribution, y, mp.mpf(float(t))) for y, t in enumerate(near)
        )
        assert total <= found and reached <= found <= max(reached, total) + m * fine + 1e-9
        assert reached >= total - 1e-6


def test_nothing_is_lost_of_one_minus_t():
    mp.mp.dps = 50
    sharp = SeparableRows(
        np.zeros((2, 1)), *np.array([[[[0.0]], [[1.0]]]] * 2), np.zeros((2, 1), int)
    )
    dual, once = DualVariables(1e-8, np.array([0.0, -1e-7])), np.zeros(1, int)
    for t in 3e-13 * rng.uniform(
        0.5, 2, size=(20, 1)
    ):  # dual variables that magnify what is lost of 1 - t
        most, _ = interval_bounds(OutputCurves(sharp, dual, np.array([0.5, 0.5])), once, t, t)
        assert exactly(sharp, dual, (0.5, 0.5), 0, mp.mpf(float(t[0]))) <= mp.mpf(float(most[0]))


def test_an_interval_is_never_understated():
    for _ in range(40):
        common = rng.uniform(0, 0.3, size=(2, 2))
        shares = rng.dirichlet(np.ones(4)).reshape(2, 2, 1)
        parts = SeparableRows(
            common, rng.uniform(0, 0.6, size=(2, 2, 1)), shares, np.zeros((2, 1), int)
        )
        dual = DualVariables(float(rng.choice([0.5, 2])), rng.normal(size=2))
        cell = (np.zeros(2), np.ones(2))
        first = rng.choice([0.0, rng.uniform(0, 0.2), rng.uniform(0, 0.9)])
        last = first + rng.choice([1e-3, 0.05])
        distribution = np.array([first, 1 - first])
        curves = OutputCurves(parts, dual, distribution)
        y, top = np.arange(2), curves.local_maxima(cell)[0]
        for centre in (top, rng.uniform(0.1, 0.9, size=2)):
            reach = rng.uniform(0.01, 0.1, size=2) * centre * (1 - centre)
            net = np.linspace(centre - reach, centre + reach, 201)
            worth = curves.values(np.broadcast_to(y, net.shape), net)
            most, better = interval_bounds(curves, y, net[0], net[-1])
            assert (worth.max(axis=0) <= most + 1e-16).all()
            assert np.allclose(better, np.maximum(worth[0], worth[-1]), rtol=0, atol=1e-14)
        piece = DualPiece(np.inf, np.inf, first, last, *cell, dual)
        found = bounded_piece(parts, 0.1, piece, np.inf, 1e-10)
        assert (
            found.dual is dual
            and bounded_piece(parts, 0.1, piece._replace(bound=-1.0), np.inf, 1).bound == -1
        )
        distributions = [
            at_distribution(parts, dual, first + part * (last - first), cell)
            for part in (0, 0.3, 0.5, 1)
        ]
        assert (
            max(distributions) <= found.bound + 1e-9
            and abs(distributions[2] - found.central) < 1e-9
        )
        bent = (last - first) ** 2 / 8 / (first * (1 - last)) if first else 0.7 * last
        assert found.bound <= max(distributions) + bent + 1e-9


def test_derivatives_against_differences():
    rng, checked, torn_ones, others = np.random.default_rng(3), 0, 0, 0
    for trial in range(0, 120, 3):
        problem = drawn_world(trial)
        if trial % 5 == 4:
            continue
        b = rng.uniform(0.3, 0.95) * problem.largest_entropy
        parts, slack = separable_rows(problem), problem.largest_entropy - b
        m = parts.height.shape[1]
        cell = np.zeros(m), np.ones(m)
        classes, leakage = best_adversary(problem, b, rng, 8, accuracy=1e-12)
        distribution = own = classes.sum(axis=1)
        if trial % 2:  # another distribution than that of the best adversary
            distribution = own + np.clip(
                rng.uniform(-0.1, 0.1), -own[0] / 2, own[1] / 2
            ) * np.array([1, -1])
        dual = starting_dual(problem, parts, classes, own_multiplier(problem, b, classes, Clock()))
        if dual.multiplier < 0.02 or problem.missing(classes) < 0.99 * slack:
            continue  # the entropy constraint is inactive
        curves = OutputCurves(parts, dual, distribution)
        value, slope, second = dual_value(curves, slack, cell)
        at, odds_bounds, turns = np.array([dual.multiplier, *dual.belief]), [], []
        for h in 1e-5 * np.eye(3):
            sides = [DualVariables(float(x[0]), x[1:]) for x in (at + h, at - h)]
            sides = [OutputCurves(parts, side, distribution) for side in sides]
            more, less = (dual_value(side, slack, cell) for side in sides)
            odds_bounds.append([more[0] - less[0], *(more[1] - less[1])])
            turns.append(np.subtract(*(side.local_maxima(cell)[0] for side in sides)))
        if np.abs(turns).max() < 5e-4:  # no other local maximum takes over
            odds_bounds, near = np.array(odds_bounds) / 2e-5, 1e-3 * np.abs(second).max()
            # a step of 1e-5 changes the slope by 1e-5 times the second derivative, of which both sides cancel most
            assert np.allclose(odds_bounds[:, 0], slope, rtol=0, atol=1e-4 * near)
            assert np.allclose(odds_bounds[:, 1:], second, rtol=0, atol=near)
            checked += 1
        curves, value = minimise_dual(curves, slack, cell, -np.inf)
        assert value >= leakage - 1e-9 or distribution is not own
        if np.abs(dual_value(curves, slack, cell)[1]).max() > 1e-6:
            torn_ones += 1
            continue
        where = curves.local_maxima(cell)[0]
        _, held, _ = curves.terms(np.arange(m), where)
        prior = held.reshape(2, -1)[np.arange(2)[:, None], parts.place]
        prior = np.where(np.isfinite(problem.log_counts), prior, 0)
        assert np.allclose(prior.sum(axis=1), distribution, rtol=0, atol=1e-4)
        assert abs(problem.missing(prior) - slack) < 1e-3
        assert abs(problem.leakage(prior / prior.sum()) - value) < 1e-3
        others += distribution is not own
    assert checked >= 8 and torn_ones <= checked and others >= 3


def test_outside_its_scope_the_bound_is_infinite():
    rng = np.random.default_rng(3)
    problem = record_problem(modular_sum(9, 8), binary_symmetric(0.3, 8), 0)
    b = 0.9 * problem.largest_entropy
    classes, leakage = best_adversary(problem, b, rng, 12, accuracy=1e-5)
    claim = LeakageClaim(problem, b, classes, leakage, 1e-3)
    assert np.isfinite(separable_bound(claim, Clock()))
    assert separable_bound(claim, Clock(0)) == np.inf
    erasure = np.hstack([0.7 * np.eye(5), np.full((5, 1), 0.3)])
    sure = record_problem(
        counting(4), erasure, 0
    )  # at this level the entropy constraint is inactive
    classes, leakage = best_adversary(sure, 0.8 * sure.largest_entropy, rng, 8, accuracy=1e-8)
    assert (
        separable_bound(
            LeakageClaim(sure, 0.8 * sure.largest_entropy, classes, leakage, 1e-3), Clock()
        )
        == np.inf
    )
    for query, channel in (
        (counting(4), geometric(5, 1.0)),
        (SumQuery([range(3)] * 2, (3).__rmod__), binary_symmetric(0.2, 3)),
    ):
        problem = record_problem(query, channel, 0)
        assert (
            separable_bound(LeakageClaim(problem, 1.0, problem.uniform, 0.0, 1e-3), Clock())
            == np.inf
        )
