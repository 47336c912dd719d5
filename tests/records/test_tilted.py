"""Tilted replies: their worth, their rounding, the starts and the climbs."""

import mpmath as mp
import numpy as np

from pmlbook.foundations.classic import geometric
from pmlbook.numerics.progress import Clock
from pmlbook.records.classes import record_problem
from pmlbook.records.queries import Query, counting
from pmlbook.records.tilted import (
    MIN_SEARCHED_MULTIPLIER,
    blur,
    reply,
    spare,
    surely_allowed,
)


def worth_at(problem, gains, heat, slack):
    """B at a multiplier, with fifty digits, for the floats as they are."""
    shares = problem.log_shares
    inner = [
        heat * mp.log(mp.fsum(mp.exp(s + k / heat) for s, k in zip(*map(mp.matrix, rows))))
        for rows in zip(np.where(np.isfinite(shares), shares, -1e300).tolist(), gains.tolist())
    ]
    return (1 + heat) * mp.log(mp.fsum(mp.exp(g / (1 + heat)) for g in inner)) + heat * slack


def boundless(problem, gains):
    """The limit of B at multiplier 0."""
    tops = np.where(np.isfinite(problem.log_shares), gains, -np.inf).max(axis=1)
    return mp.log(mp.fsum(mp.exp(mp.mpf(top)) for top in tops))


def test_a_reply_is_worth_what_the_formula_says():
    rng = np.random.default_rng(0)
    rare = record_problem(
        Query(lambda x: int(sum(x) == 6), [(0, 1)] * 6), [[0.8, 0.2], [0.3, 0.7]], 0
    )
    for problem in (record_problem(counting(3), geometric(4, 1.0), 0), rare):
        for trial in range(40):
            gains = rng.normal(size=problem.log_counts.shape) * 10.0 ** rng.integers(-6, 4)
            gains += rng.choice([0, 500, -500])
            b = problem.largest_entropy * (1 - 10.0 ** rng.uniform(-9, 0))
            given = Clock(0) if trial % 8 == 7 else Clock()
            answer = reply(problem, gains[None], b, clock=given)
            heat, slack = mp.mpf(answer.multiplier[0]), mp.mpf(problem.largest_entropy) - mp.mpf(b)
            exact = boundless(problem, gains)
            if trial % 8 < 7:
                exact = min(exact, worth_at(problem, gains, heat, slack))
                assert answer.rounding[0] > 0
            else:
                assert (answer.classes[0] == problem.uniform).all() and answer.multiplier[0] == 0.3
            size = 1 + np.abs(gains).max() + heat
            assert exact <= answer.bound[0] <= exact + mp.mpf("5e-14") * size
            assert surely_allowed(problem, answer.classes[0], b)


def test_logarithms_of_binomials_are_as_far_off_as_said():
    problem = record_problem(counting(300), geometric(301, 1.0), 0)
    for k in (0, 7, 150):
        exact = mp.log(mp.binomial(299, k)) - 300 * mp.log(2)
        assert abs(problem.log_shares[0, k] - exact) <= blur(problem) < 1e-12


def test_entropies_that_are_sure_to_reach_a_level():
    rng = np.random.default_rng(0)
    problem = record_problem(counting(300), geometric(301, 1.0), 0)
    assert 0 < blur(problem) < spare(problem, 100.0) < 1e-9
    problem = record_problem(counting(3), geometric(4, 1.0), 0)
    prior = rng.dirichlet(np.ones(6)).reshape(2, 3)
    entropy = float(problem.entropy(prior))
    both = np.stack([prior, problem.uniform])
    assert surely_allowed(problem, both, entropy - 1e-12).tolist() == [True, True]
    assert surely_allowed(problem, both, entropy).tolist() == [False, True]
    assert surely_allowed(problem, both, 3 * np.log(2)).tolist() == [False, True]


def test_a_reply_keeps_its_entropy():
    rng = np.random.default_rng(0)
    problem = record_problem(counting(3), geometric(4, 1.0), 0)
    for slack in (3 * np.log(2), 1.0, 1e-3, 1e-9, 1e-12):
        gains = rng.normal(size=(40, 2, 3)) * 10.0 ** rng.integers(-3, 3, size=(40, 1, 1))
        b = max(0.0, problem.largest_entropy - slack)
        answer = reply(problem, gains, b, accuracy=1e-9)
        left = problem.entropy(answer.classes) - b
        assert (left >= 0).all()
        sleeps = answer.multiplier <= 1.01 * MIN_SEARCHED_MULTIPLIER
        assert slack < 1e-6 or (answer.multiplier * left)[~sleeps].max() <= 2e-9
        single = np.concatenate([reply(problem, g[None], b, accuracy=1e-9).bound for g in gains])
        assert np.allclose(single, answer.bound, rtol=0, atol=2e-9 * (1 + np.abs(gains).max()))
    dice = np.random.default_rng(1)
    large = record_problem(counting(60), dice.dirichlet(np.ones(61), 61), 0)
    gains = 30 * dice.normal(size=(40, *large.log_shares.shape))
    ends = [
        reply(large, gains, large.largest_entropy / 2, np.full(40, begin), 1e-9).bound
        for begin in (0.3, 1e-11, 1e9)
    ]
    assert np.allclose(ends, ends[0], rtol=0, atol=1e-8)
