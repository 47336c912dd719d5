"""Enumeration: bounds of floats against fractions, shaved lifts and levels that are kept."""

from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
import scipy.optimize

from pmlbook.extremal import enumeration as module
from pmlbook.extremal.enumeration import (
    best_mix,
    ceilings,
    complete,
    dual_bound,
    enumerate_optimum,
    excess,
    keep_level,
    lowered,
    mixture,
    polish,
    symmetric_duals,
)
from pmlbook.extremal.lift_vectors import exact_lift_vectors, lift_vectors
from pmlbook.extremal.regions import lift_limit
from pmlbook.foundations.probability import random_prior
from pmlbook.foundations.utility import NAMED, ExpectedGain, as_utility
from pmlbook.numerics.linear_programmes import SolverFailed
from pmlbook.release.mechanism import Mechanism

rng = np.random.default_rng(8)


def utilities(n):
    first, second = random_prior(n, rng), random_prior(n, rng)
    testers = as_utility(lambda column: abs((first - second) @ column))
    mine = [ExpectedGain(rng.normal(size=(n, 3))), testers, as_utility(np.linalg.norm)]
    return [*NAMED.values(), *mine]


def test_bounds_of_floats_against_fractions():
    rng, solver = np.random.default_rng(47), scipy.optimize.nnls
    for trial in range(12):
        n = 2 + trial % 4
        parts = rng.integers(1, 5 if trial % 2 else 30, size=n).tolist()
        shares = [Fraction(k, sum(parts)) for k in parts]
        c = 1 + (1 / min(shares) - 1) * Fraction(int(rng.integers(1, 10)), 11)
        p = np.array(shares, dtype=float)
        vertices = exact_lift_vectors(shares, c)
        u = utilities(n)[trial % 9]
        every, (lifts, shifts) = range(len(vertices.place)), (vertices.lifts, vertices.shifts)
        used, duals = best_mix(vertices, u)
        exact = [excess(vertices, v, u, duals) for v in every]
        tops = ceilings(vertices, u, duals)
        assert all(top >= truth for top, truth in zip(tops, exact))
        assert max(float(top - truth) for top, truth in zip(tops, exact)) < 1e-9 * (1 + max(exact))
        values = u.at_lifts(lifts, shifts, p)
        assert np.allclose(
            [float(x) for x in exact], values - np.array(duals, float) @ shifts, rtol=0, atol=1e-10
        )
        top = max(exact)
        assert float(top - min(exact[v] for v in used)) < 1e-11 * (1 + abs(values).max())
        asked = []

        def counted(vertices, v, u, duals):
            asked.append(v)  # noqa: B023
            return exact[v]  # noqa: B023

        for ties in (1, 2, len(exact) - 1, len(exact)):
            asked.clear()
            with patch.dict(vars(module), MAX_EXACT_VERTICES=ties, excess=counted):
                assert top <= dual_bound(vertices, u, duals) <= max(tops)
            assert len(asked) == len(set(asked)) <= max(1, ties + 1) and len(asked) >= 1
            if ties >= len(exact):
                assert len(asked) == len(exact)
        with patch.dict(vars(module), MAX_EXACT_VERTICES=len(exact) - 1, excess=counted):
            assert dual_bound(vertices, u, duals) in (top, *map(Fraction, tops.tolist()))
        alone = [Fraction(0)] * n  # one vertex far above the others is found at once
        far = [Fraction(1000)] + alone[1:] if len(exact) > 3 else alone
        asked.clear()
        exact_far = {v: excess(vertices, v, u, [-y for y in far]) for v in every}
        with patch.dict(vars(module), MAX_EXACT_VERTICES=1):
            assert dual_bound(vertices, u, [-y for y in far]) >= max(exact_far.values())

        even = symmetric_duals(shares, duals)
        assert sum(even) == sum(duals)
        assert all(even[i] == even[j] for i in range(n) for j in range(n) if shares[i] == shares[j])
        if len(set(shares)) == n:
            assert even == duals
        off = np.array(duals, dtype=float) + 1e-4 * rng.normal(size=n)
        left = values[used] - polish(off, shifts[:, used], values[used]) @ shifts[:, used]
        assert np.ptp(left) < 1e-13 * (1 + abs(values).max())  # all are worth the same
        kept = polish(np.array(duals, float), shifts[:, used], values[used])
        assert abs(kept - np.array(duals, float)).max() < 1e-10 * (1 + abs(kept).max())

        free = np.array([float(x) for x in exact])
        whole = complete(vertices, free, abs(values).max(), used)
        assert set(whole) <= set(used)
        if len(whole) > 1 and not np.isclose(lifts[:, used[0]], 1).all():
            again = complete(vertices, free, abs(values).max(), whole[1:])  # one of them is missing
            weights, miss = scipy.optimize.nnls(lifts[:, again], np.ones(n))
            assert miss < 1e-13 * n and min(free[again]) >= free.max() - 1e-8 * abs(values).max()
        tables = ("tall", "place", "tops", "bottoms")
        first = replace(vertices, **{name: getattr(vertices, name)[:1] for name in tables})
        lost = complete(first, free[:1], 1.0, np.array([0]))
        assert lost.tolist() == [0]  # nothing averages to one: as given

        for shave in (0.0, 2.0**-30, 0.1):
            low = lowered(lifts, p, shave)
            tall = lifts == lifts.max()
            inner = (lifts > 0) & ~tall
            mean = np.where(
                inner.any(axis=0), 1, 1 - shave
            )  # without a remainder no symbol takes it
            assert np.allclose(p @ low, mean, rtol=0, atol=1e-14)
            assert np.all(low[lifts == 0] == 0) and np.all(low[tall] == lifts.max() * (1 - shave))
            assert np.all(low[inner] >= lifts[inner]) and (shave == 0) == np.array_equal(low, lifts)

        solved = []
        again = lambda *now: solved.append(0) or solver(*now)  # noqa: B023, E731
        with patch.object(scipy.optimize, "nnls", again):
            channels = [mixture(lifts[:, some], p, 0.0) for some in (whole, np.repeat(whole, 2))]
            assert not solved or np.linalg.matrix_rank(lifts[:, whole]) < len(whole)
            for channel, some in zip(channels, (whole, np.repeat(whole, 2))):
                assert np.allclose(channel.sum(axis=1), 1, rtol=0, atol=1e-15)
                occurs = p @ channel > 1e-12
                ratio = channel[:, occurs] / (p @ channel[:, occurs])
                assert np.allclose(ratio, lifts[:, some][:, occurs], rtol=0, atol=1e-8)
        try:
            mixture(lifts[:, whole[1:]], p, 0.0) if len(whole) > 1 else mixture(
                2 * lifts[:, whole], p, 0.0
            )
        except SolverFailed as error:
            assert "too uneven" in str(error)


def test_a_mixture_that_is_none():
    prior = np.array([0.6, 0.3, 0.1])
    # two rows are right, the third is empty
    with pytest.raises(SolverFailed) as error:
        mixture(np.diag(1 / prior)[:, :2], prior, 0.0)
    assert "too uneven" in str(error.value)


def test_the_level_is_kept_by_the_first_shave_that_does():
    prior = np.array([0.6, 0.3, 0.1])
    mute = Mechanism(np.ones((3, 1)), prior)
    loud = Mechanism(np.eye(3) * 0.3 + 0.7 / 3, prior)
    level = np.nextafter(loud.epsilon, 0)  # exceeded by as little as can be
    for first in range(6):
        tried = []

        def make(shave):
            tried.append(shave)  # noqa: B023
            return mute if len(tried) > first else loud  # noqa: B023

        found = keep_level(make, level)
        assert (found is mute) == (first < 5) and found.certify(level)
        assert len(tried) == min(first + 1, 5) and tried == sorted(tried) and tried[0] == 0


def test_lowered_vectors_that_do_not_mix():
    prior = np.array([0.6, 0.3, 0.1])
    loud = Mechanism(np.eye(3), prior)
    for good in (1, 0):  # lowered vectors that do not mix: more noise is the way out
        tried = []

        def make(shave):
            tried.append(shave)  # noqa: B023
            if len(tried) > good:  # noqa: B023
                raise SolverFailed("too uneven")
            return loud

        try:
            assert keep_level(make, 0.5).certify(0.5) and good
        except SolverFailed:
            assert not good


def test_lowered_vectors_average_to_one():
    prior = np.array([0.6, 0.3, 0.1])
    for distribution in (
        prior,
        np.append(prior[:-1], prior[-1] / np.array([2, 2])),
    ):  # one remainder, or two alike
        lifts = np.array([[0.4, 1.2, 1.2, *[0.7] * (len(distribution) - 2)]]).T[: len(distribution)]
        lifts = lifts / (distribution @ lifts)
        assert np.allclose(distribution @ lowered(lifts, distribution, 1e-3), 1, rtol=0, atol=1e-15)


def test_the_nearest_is_mixed_with_noise():
    prior = np.array([0.6, 0.3, 0.1])
    near = Mechanism(np.eye(3) * 1e-3 + (1 - 1e-3) / 3, prior)
    stored = keep_level(lambda shave: near, 1e-5)
    assert stored.certify(1e-5) and np.array_equal(stored.channel, near.within(1e-5).channel)


def test_symmetric_priors_have_symmetric_duals():
    information = NAMED["mutual_information"]
    for shares in (
        [Fraction(1, 4)] * 4,
        [Fraction(1, 6), Fraction(1, 6), Fraction(1, 3), Fraction(1, 3)],
    ):
        limit = lift_limit(shares, 0.9)[1]
        for u in (information, ExpectedGain(np.diag([1, 2, 3, 4]))):
            vertices = exact_lift_vectors(
                shares, limit
            )  # alike or not, the bound is that of all vertices
            duals = best_mix(vertices, u)[1]
            duals = symmetric_duals(shares, duals) if u.symmetric else duals
            whole = float(max(excess(vertices, v, u, duals) for v in range(len(vertices.place))))
            assert (
                whole <= enumerate_optimum(shares, 0.9, u)[1] <= np.nextafter(whole, np.inf) + 1e-30
            )
    shares, rise = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], Fraction(7, 5)
    vertices, idle = exact_lift_vectors(shares, rise), ExpectedGain(np.zeros((3, 1)))
    multipliers = [
        Fraction(k, 7) * 10**9 for k in (5, -3, 11)
    ]  # a utility of nothing: all margin is that of the dual variables
    tops = ceilings(vertices, idle, multipliers)
    for v, top in enumerate(tops):
        left = excess(vertices, v, idle, multipliers)
        assert left <= top <= left + 10**9 * Fraction(1, 2**38)


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_solver_that_sees_few_vertices_finds_the_optimum_of_all(name):
    """Against one programme over every vertex, as the paper has it."""
    rng = np.random.default_rng(11)
    for n, level in ((9, 0.3), (11, 1.0), (12, 1.7)):
        prior = rng.dirichlet(np.ones(n))
        vertices = lift_vectors(prior, level)
        worth = NAMED[name].columns(vertices, prior)
        every = scipy.optimize.linprog(-worth, A_eq=vertices, b_eq=np.ones(n), method="highs-ds")
        lifts, bound = enumerate_optimum(prior, level, NAMED[name])
        assert lifts.shape[1] <= n and abs(bound + every.fun) < 1e-9 * max(1, bound)
