"""Mutual information: tangents, Lagrangian bounds, Newton steps and their ends."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from scipy.special import rel_entr

from pmlbook.hamming.exact import dp_leakage
from pmlbook.hamming.information_barrier import (
    STEEPEST_DUAL,
    _newton_step,
    _Point,
    _tangent,
    binary_divergences,
    least_information,
    lower_bound,
    proven_bound,
    water_filling,
)
from pmlbook.hamming.mutual_information import (
    _information_above,
    mi_leakage,
    replacing_channel,
)
from pmlbook.hamming.source_sets import SourceSet
from pmlbook.numerics.enclosure import as_fractions, ln_around
from pmlbook.numerics.linear_programmes import SolverFailed


def lagrangian(V, distortion, weights, duals, D, q):
    """What a channel costs, row by row, with errors at their dual variables: the bound is the least of it."""
    p, fine = weights @ V, duals @ V @ D - distortion * duals.sum()
    rows = replacing_channel(D, q)
    return float(p[p > 0] @ rel_entr(rows, q).sum(axis=1)[p > 0] + fine)


def conditions(V, distortion, slack, dual, top, normal, target):
    """What is zero at the point that Newton's step aims at; slopes by complex steps, not by formula."""
    K, M = V.shape
    D, E, q = slack[2 * K :].reshape(3, M)
    tiny = 1e-30j

    def divergence(D, q):
        return D * np.log(D / (1 - q)) + (1 - D) * np.log((1 - D) / q)

    p, charged = dual[:K] @ V, dual[K : 2 * K] @ V
    slope_D, slope_q = (divergence(*z).imag / 1e-30 for z in ((D + tiny, q), (D, q + tiny)))
    below, above, distribution = dual[2 * K :].reshape(3, M)
    stationary = [p * slope_D + charged - below + above, p * slope_q + normal - distribution]
    room = np.concatenate([top - V @ divergence(D, q), distortion - V @ D])
    sums = [dual[:K].sum() - 1, q.sum() - 1, *(slack[: 2 * K] - room), *(D + E - 1)]
    return np.concatenate([*stationary, slack * dual - target, sums])


def test_tangents_on_their_own_side():
    for p, dual, q in (
        ("1/3", "1/5", "1/7"),
        ("1/2", 30, "1/9"),
        ("1/8", "1/1000000", 1),
        ("1/5", 190, 1),
    ):
        p, dual, q = map(Fraction, (p, dual, q))
        P, S, Q = (sp.Rational(z.numerator, z.denominator) for z in (p, dual, q))
        a = sp.exp(-S / P)
        cost, fall = -P * sp.log(a + (1 - a) * Q), P * (1 - a) / (a + (1 - a) * Q)
        low, flattest, steepest = _tangent(p, dual, q)
        over = [sp.Rational(z.numerator, z.denominator) for z in (low, flattest, steepest)]
        gaps = [
            (z - w).evalf(30, maxn=500)
            for z, w in zip((cost, fall, over[2]), (over[0], over[1], fall))
        ]
        assert all(0 <= gap < 1e-25 for gap in gaps)
    assert _tangent(Fraction(1, 2), 4 * STEEPEST_DUAL, Fraction(1, 2)) == _tangent(
        Fraction(1, 2), STEEPEST_DUAL / 2, Fraction(1, 2)
    )


def test_the_bound_is_the_least_of_the_lagrangian():
    draw = np.random.default_rng(20)
    for _ in range(200):
        m, k = int(draw.integers(2, 6)), int(draw.integers(1, 4))
        V, weights = draw.dirichlet(np.ones(m), k), draw.dirichlet(np.ones(k))
        V[:, 0] *= draw.integers(2)
        duals, distortion = draw.exponential(draw.choice([0.1, 1, 5]), k), draw.uniform(0, 1)
        bound = lower_bound(V, distortion, weights, duals)
        p, s = weights @ V, duals @ V
        q, a = np.zeros(m), np.exp(-s[p > 0] / p[p > 0])
        q[p > 0] = water_filling(p[p > 0], s[p > 0] / p[p > 0])
        best = np.zeros(m)
        best[p > 0] = (1 - q[p > 0]) * a / (q[p > 0] + (1 - q[p > 0]) * a)
        assert np.isclose(q.sum(), 1, rtol=0, atol=1e-12)
        assert np.isclose(
            bound, lagrangian(V, distortion, weights, duals, best, q), rtol=0, atol=1e-12
        )
        for _ in range(5):
            other = draw.uniform(0, 1, m), draw.dirichlet(np.full(m, 0.5))
            assert bound <= lagrangian(V, distortion, weights, duals, *other) + 1e-12


def test_bounds_at_the_ends():
    half = np.full((1, 2), 0.5)
    for bound in (lower_bound, proven_bound):
        assert abs(bound(half, 0.25, np.ones(1), np.array([0.0]))) == 0
        for dual in (4e-300, 1e-9, 1e-3):  # at one half a constant answer is good enough
            assert bound(half, 0.5, np.ones(1), np.array([dual])) <= (
                1e-15 if bound is lower_bound else 0
            )
            assert bound(half, 0.5, np.ones(1), np.array([dual])) > -dual
        truth = bound(np.array([[0.5, 0.5, 0.0]]), 0.0, np.ones(1), np.array([2e4]))
        assert abs(truth - np.log(2)) < 1e-12  # no error is allowed: a bit in the clear
        assert bound(half, 0.25, np.ones(1), np.array([2e4])) < -4000


def test_the_step_is_that_of_newton():
    rng = np.random.default_rng(8)
    for K, M in ((1, 2), (2, 3), (3, 5)):
        D, q = rng.uniform(0.05, 0.6, M), rng.dirichlet(np.ones(M))
        at = [
            np.concatenate([rng.uniform(0.1, 1, 2 * K), D, 1 - D, q]),
            rng.uniform(0.1, 1, 2 * K + 3 * M),
        ]
        V, at = rng.dirichlet(np.ones(M), K), (*at, 1.3, 0.2)
        now, step = conditions(V, 0.3, *at, 0.01), _newton_step(V, 0.3, _Point(*at), 0.01)
        near = conditions(V, 0.3, *(z + 1e-7 * s for z, s in zip(at, step)), 0.01)
        assert np.allclose((near - now) / 1e-7, -now, rtol=0, atol=1e-4 * abs(now).max())


def test_more_room_than_rounding_takes():
    draw = np.random.default_rng(20)
    for m, k in (
        (2, 1),
        (3, 2),
        (5, 3),
    ):  # more room than rounding takes, also for a distribution far off
        V, channel = draw.dirichlet(np.ones(m), k), draw.dirichlet(np.ones(m), m)
        distribution = np.append(np.full(m - 1, 1e-20), 1.0)
        terms = [
            [
                Fraction(c) * ln_around(Fraction(c) / Fraction(q))[1]
                for c, q in zip(row, distribution.tolist())
            ]
            for row in channel.tolist()
        ]
        exact, size = (
            max(sum(Fraction(v) * part for v, part in zip(vertex, parts)) for vertex in V.tolist())
            for parts in ([sum(row) for row in terms], [sum(map(abs, row)) for row in terms])
        )
        room = Fraction(_information_above(SourceSet(V), channel, distribution)) - exact
        assert m * size / 2**53 < room < size / 10**13


def test_the_loop_fits_together_after_any_step():
    draw = np.random.default_rng(20)
    for m, k in ((2, 1), (3, 2), (4, 3), (6, 2)):
        V = draw.dirichlet(np.ones(m), k)
        D = 0.5 * (1 - V.max(axis=1).min())
        best = mi_leakage(V, D).value
        for steps in (0, 1, 4, 20):
            found = least_information(V, D, steps=steps)
            upper = found.high
            (errors, distribution) = found.of_high
            (weights, duals) = found.of_low
            assert (
                upper == (V @ binary_divergences(errors, 1 - errors, distribution)).max()
                and (V @ errors).max() <= D
            )
            assert np.isclose(distribution.sum(), 1, rtol=0, atol=1e-15) and np.isclose(
                weights.sum(), 1, rtol=0, atol=1e-15
            )
            under = lower_bound(V, D, weights, duals)
            assert under - 1e-12 <= best <= upper + 1e-12
        assert upper - under < 1e-11  # after twenty steps


@pytest.mark.parametrize("below", [0, 6e-17, 9e-15, 2e-14, 1e-10])
def test_the_distortion_is_kept_exactly_where_a_constant_answer_nearly_does(below):
    draw = np.random.default_rng(8)
    drawn = [draw.dirichlet(np.ones(m), k).tolist() for m, k in ((2, 1), (3, 2), (5, 3))]
    for V in ([[0.5, 0.3, 0.2]], [[0.7, 0.2, 0.1]], [[1.0, 0.0], [0.5, 0.5]], *drawn):
        answer = mi_leakage(V, 1).mechanism.channel[0]  # the best constant one
        limit = 1 - float((np.array(V) @ answer).min()) - below
        design = mi_leakage(V, limit)
        right = [Fraction(x) for x in design.mechanism.channel.diagonal().tolist()]
        kept = [sum(p * x for p, x in zip(as_fractions(vertex), right)) for vertex in V]
        assert 1 - min(kept) <= Fraction(limit)
        assert design.bound <= design.value < 1e-9
    assert mi_leakage([[0.5, 0.3, 0.2]], 0.5).method == "constant"


@pytest.mark.parametrize("distortion", [5e-324, 1e-310, 1e-308, 1e-300, 1e-20])
def test_a_distortion_too_small_to_store(distortion):
    for V in ([[0.5, 0.5]], [[1, 0, 0], [0.5, 0.25, 0.25]], [[0.5, 0.5], [1, 0]]):
        for call in (dp_leakage, mi_leakage):
            with pytest.raises(SolverFailed, match=f"distortion = {distortion!r} is too small"):
                call(V, distortion)
