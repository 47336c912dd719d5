"""The bound by data processing, in sixty digits."""

import mpmath as mp
import numpy as np

from pmlbook.foundations.classic import geometric
from pmlbook.numerics.progress import Clock
from pmlbook.records.classes import record_problem
from pmlbook.records.data_processing import (
    StationaryPoint,
    bound_over_values,
    bound_value,
    data_processing_bound,
    own_multiplier,
    stationary_point,
)
from pmlbook.records.queries import Query, counting
from pmlbook.records.tilted import best_adversary, posterior_gains, tilt


def gibbs(exponents, heat):
    """The largest mean of the exponents plus heat times the entropy."""
    return heat * mp.log(mp.fsum(mp.exp(e / heat) for e in exponents))


def with_digits(rows, logs, stationary, contraction, share, reference, slope, start):
    """Psi of the theorem, for the floats as they are."""
    r = [mp.fsum(mp.mpf(p) * w for p, w in zip(reference, column)) for column in rows.T]
    paid = [
        (1 - mp.mpf(share)) * s + share * mp.log(x) - mp.log(q)
        for s, x, q in zip(slope, r, stationary.outputs)
    ]
    exponents = [
        mp.fsum(mp.mpf(w) * p for w, p in zip(row, paid))
        + (1 - mp.mpf(share)) * start
        + mp.mpf(stationary.multiplier) * log
        - share * mp.mpf(contraction) * mp.log(p)
        for row, log, p in zip(rows, logs, reference)
        if np.isfinite(log)
    ]
    return gibbs(exponents, mp.mpf(stationary.multiplier) - share * mp.mpf(contraction))


def test_the_formula_in_sixty_digits():
    mp.mp.dps = 60
    rng = np.random.default_rng(5)
    for trial in range(240):
        c, m = 1 + trial % 3, 2 + trial % 2
        large = 600 * rng.integers(0, 2, size=5) + rng.uniform(0, 2, size=5)
        heat = float(rng.choice([1.2, 3, 40]))
        contraction, share = float(rng.choice([0, 0.37, 1])), float(rng.choice([0, 0.5, 1]))
        logs, rows = -large[0] * rng.dirichlet(np.ones(c)) / heat, rng.dirichlet(np.ones(m), size=c)
        logs[0 : int(c == 3 and trial % 2)] = -np.inf
        stationary = StationaryPoint(heat, None, rng.dirichlet(np.ones(m)) * np.exp(-large[1]))
        reference = rng.dirichlet(np.ones(c)) * np.exp(-large[2])
        slope, start = large[3] * rng.uniform(-1, 1, size=m), large[4] * rng.uniform(-1, 1)
        parts = rows, logs, stationary, contraction, share
        found = bound_value(*parts, reference[None], slope[None], np.array([start]))
        exact = with_digits(*parts, reference, slope, start)
        assert exact <= found.bound[0] <= exact + mp.mpf("1e-10")
        assert abs(found.inside.sum() - 1) < 1e-12 and not found.inside[0][np.isinf(logs)].any()


def test_the_formula_where_numbers_overflow():
    mp.mp.dps = 60
    rng = np.random.default_rng(5)
    many = record_problem(counting(1000), geometric(1001, 1.0), 0)
    few = record_problem(counting(3), geometric(4, 2.0), 0)
    for trial in range(120):
        problem, heat = (few, many)[trial % 2], float(np.exp(rng.uniform(-7, 7)))
        b = problem.largest_entropy * rng.choice([0, 0.5, 1])
        apart = rng.normal(size=2) * heat * rng.choice([1, 5000])  # far enough to overflow
        tops = (rng.choice([-700, 0, 700]) + apart).tolist()
        slack = mp.mpf(problem.largest_entropy) - mp.mpf(b)
        exact = gibbs([mp.mpf(top) for top in tops], mp.mpf(heat)) + heat * slack
        found = bound_over_values(problem, b, StationaryPoint(heat, None, None), tops)
        size = 1 + max(map(abs, tops)) + heat * (1 + float(slack))
        assert exact <= found <= exact + (3e-14 if problem is few else 3e-12) * size


def test_a_stationary_point_is_what_it_says():
    rng = np.random.default_rng(5)
    few = record_problem(counting(3), geometric(4, 2.0), 0)
    three = Query(lambda x: int(x[0] == x[1] == 1), [(0, 1)] * 2)
    for problem in (few, record_problem(three, [[0.9, 0.1], [0.2, 0.8]], 0)):
        here = np.isfinite(problem.log_counts)
        prior = rng.dirichlet(np.ones(here.size)).reshape(here.shape) * here
        prior /= prior.sum()
        for stationary in (
            stationary_point(problem, 0.5, prior, 1.5, 0, Clock()),
            stationary_point(problem, 0.5, prior, 1.5, 9, Clock(0)),
        ):
            distribution = prior.sum(axis=1, keepdims=True)
            assert stationary.multiplier == 1.5 and np.allclose(
                stationary.inside * distribution, prior, rtol=0, atol=1e-15
            )
            assert np.allclose(
                stationary.outputs, problem.outputs(prior).sum(axis=0), rtol=0, atol=1e-15
            )
        slack = problem.largest_entropy - 0.5
        stationary = stationary_point(problem, 0.5, prior, 1.5, 300, Clock())
        assert (stationary.inside > 0).all() and (stationary.inside[~here] < 1e-200).all()
        gains = posterior_gains(problem, stationary.inside[None] * here / len(here))
        again = tilt(gains, problem.log_shares, slack, np.array([1.5])).classes[0]
        for _ in range(300):
            distribution = again.sum(axis=1, keepdims=True)
            again = tilt(
                posterior_gains(problem, again[None]), problem.log_shares, slack, np.array([1.5])
            )
            again = again.classes[0]
        assert np.allclose(
            again / again.sum(axis=1, keepdims=True), stationary.inside, rtol=0, atol=1e-9
        )
        assert data_processing_bound(problem, 0.5, prior, clock=Clock(0)) == np.inf


def test_the_least_allowed_multiplier_is_taken():
    problem = record_problem(counting(8), geometric(9, 2.0), 0)
    for share, least in ((0.88, 1.001), (0.97, 1.01)):  # little noise: nearly all is kept
        b = share * problem.largest_entropy
        classes, leakage = best_adversary(problem, b, np.random.default_rng(0), 8, accuracy=1e-8)
        own, bounds = own_multiplier(problem, b, classes, Clock()), []
        least *= problem.contractions.max()
        for heat in (max(own, least), max(own, least) + 0.05):
            stationary = stationary_point(problem, b, classes, heat, 40, Clock())
            none, zero = np.zeros((1, 9)), np.zeros(1)
            tops = [
                bound_value(
                    rows, logs, stationary, contraction, 1.0, inside[None], none, zero
                ).bound[0]
                for rows, logs, contraction, inside in zip(
                    problem.rows, problem.log_shares, problem.contractions, stationary.inside
                )
            ]
            bounds.append(bound_over_values(problem, b, stationary, tops))
        assert (own < least) == (share < 0.9) and leakage <= bounds[0] < bounds[1]
        assert abs(data_processing_bound(problem, b, classes) - bounds[0]) < 1e-12
