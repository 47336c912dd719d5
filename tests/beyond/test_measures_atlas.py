"""Leakage of two orders: against fifty digits, another optimiser, closed forms, dit and qif, and at the edges."""

import math
from fractions import Fraction
from itertools import permutations

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import pmlbook as pb
from pmlbook.measures import alpha_lift, maximal_alpha_leakage, sibson_information

FLIP = np.array([[0.75, 0.25], [0.25, 0.75]])
INF = math.inf


def world(seed):
    """A random prior and a random channel with positive entries."""
    rng = np.random.default_rng(seed)
    n, m = (int(k) for k in rng.integers(2, 6, 2))
    return rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m), n)


def exponent(rows, p, start, alpha, beta):
    """The leakage of two orders at a prior and a row, in fifty digits."""
    p, total = [mp.mpf(w) / mp.fsum(p) for w in p], mp.mpf(0)
    for y, first in enumerate(start):
        moment = mp.fsum(w * mp.mpf(row[y]) ** alpha for w, row in zip(p, rows.tolist()))
        total += mp.mpf(first) ** (1 - beta) * moment ** (mp.mpf(beta) / alpha)
    return mp.mpf(alpha) / ((mp.mpf(alpha) - 1) * beta) * mp.log(total)


def lost(p, terms, powers, r):
    """Minus the sum after the logarithm."""
    return -(terms @ (p @ powers) ** r)


@pytest.mark.parametrize("seed", range(12))
def test_another_optimiser_finds_no_more_and_the_prior_reaches_the_value(seed):
    _, rows = world(seed)
    n = len(rows)
    for alpha, beta in ((1.5, 1), (3, 1), (3, 2), (4, 1.5)):
        found = maximal_alpha_leakage(rows, alpha, beta)
        starts = rows.tolist() if beta > 1 else rows.tolist()[:1]
        with mp.workdps(50):
            reached = max(exponent(rows, found.prior.tolist(), s, alpha, beta) for s in starts)
            assert found.value <= reached <= found.bound
        for start in rows:
            terms = start ** (1 - beta)
            given = (terms, rows**alpha, beta / alpha)
            one = {"type": "eq", "fun": lambda p: p.sum() - 1}
            even, box = np.full(n, 1 / n), [(1e-12, 1)] * n
            p = np.clip(minimize(lost, even, given, bounds=box, constraints=one).x, 0, None)
            other = alpha / (alpha - 1) / beta * math.log(-lost(p / p.sum(), *given))
            assert other <= found.bound + 1e-13  # rounding of the other one
        assert found.gap <= 1e-10 * found.bound


@pytest.mark.parametrize("alpha", [1.25, 2.0, 3.5, 40.0])
def test_closed_forms(alpha):
    factor = alpha / (alpha - 1)
    with mp.workdps(50):
        mean = ((mp.mpf(3) / 4) ** alpha + (mp.mpf(1) / 4) ** alpha) / 2
        symmetric = factor * mp.log(2 * mean ** (mp.mpf(1) / alpha))
        told = maximal_alpha_leakage(FLIP, alpha)
        assert told.value - 1e-15 <= symmetric <= told.bound + 1e-15
    for n in (2, 7):  # publishing: ln N at every order; publishing one time in two
        assert maximal_alpha_leakage(np.eye(n), alpha).value == pytest.approx(
            math.log(n), rel=1e-12
        )
        half = np.column_stack([np.eye(n) / 2, np.full(n, 0.5)])
        erased = factor * math.log(0.5 + 0.5 * n ** (1 - 1 / alpha))
        assert maximal_alpha_leakage(half, alpha).value == pytest.approx(erased, rel=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_special_orders(seed):
    _, rows = world(seed)
    assert maximal_alpha_leakage(rows, INF).value == pytest.approx(
        pb.maximal_leakage(rows), rel=1e-12
    )
    assert maximal_alpha_leakage(rows, INF, INF).value == pytest.approx(
        pb.local_dp(rows), rel=1e-12
    )
    for order in (1.5, 2, 5):
        levels = [
            math.log((p**order * q ** (1 - order)).sum()) / (order - 1)
            for p, q in permutations(rows, 2)
        ]
        found = maximal_alpha_leakage(rows, order, order)
        assert found.value == pytest.approx(max(levels), rel=1e-12)
        assert found.prior.max() == 1 and np.count_nonzero(found.prior) == 1
    rising = [maximal_alpha_leakage(rows, 2, beta).value for beta in (1, 1.3, 2, 4, INF)]
    assert (np.diff(rising) >= -1e-12).all()
    capacity = pb.measures.channel_capacity(rows)
    orders = [maximal_alpha_leakage(rows, a) for a in (1.0001, 1.1, 2, 9)]
    chain = [capacity, *orders, maximal_alpha_leakage(rows, INF)]
    assert all(low.value <= high.bound for low, high in zip(chain, chain[1:]))
    assert orders[0].value <= capacity.bound + 1e-2 * capacity.bound


@pytest.mark.parametrize("seed", range(10))
def test_processing_and_independent_releases(seed):
    """No kernel raises it; two independent releases together have the sum at beta = 1."""
    rng = np.random.default_rng(seed)
    _, rows = world(seed)
    kernel = rng.dirichlet(np.ones(3), rows.shape[1])
    for orders in ((2, 1), (2, 1.5), (3, 3), (INF, 2), (2, INF)):
        after, before = (maximal_alpha_leakage(c, *orders) for c in (rows @ kernel, rows))
        assert after.value <= before.bound
    one, two = (maximal_alpha_leakage(c, 2.5) for c in (rows, np.kron(rows, rows)))
    assert two.value == pytest.approx(2 * one.value, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_lifts_and_sibsons_information_from_their_definitions(seed):
    prior, rows = world(seed)
    for alpha in (1.5, 2, 7):
        with mp.workdps(50):
            p, lifts = [mp.mpf(x) / mp.fsum(prior.tolist()) for x in prior.tolist()], []
            for column in rows.T.tolist():
                mean = mp.fdot(p, column)
                moment = mp.fsum(w * (v / mean) ** alpha for w, v in zip(p, column))
                lifts.append((mean, moment ** (mp.mpf(1) / alpha)))
            told = mp.mpf(alpha) / (alpha - 1) * mp.log(mp.fsum(q * a for q, a in lifts))
        found = alpha_lift(rows, prior, alpha)
        assert np.allclose(found, [float(a) for _, a in lifts], rtol=1e-13, atol=0)
        assert sibson_information(rows, prior, alpha) == pytest.approx(float(told), rel=1e-11)
        assert sibson_information(rows, prior, alpha) <= maximal_alpha_leakage(rows, alpha).bound
    leaks = pb.pointwise_maximal_leakage(rows, prior)
    assert np.allclose(np.log(alpha_lift(rows, prior, INF)), leaks, rtol=1e-12, atol=1e-14)
    assert sibson_information(rows, prior, INF) == pytest.approx(
        pb.maximal_leakage(rows), rel=1e-12
    )
    told = pb.measures.mutual_information(rows, prior)
    assert told <= sibson_information(rows, prior, 1.001) + 1e-14


def test_edges():
    silent, half = [[1, 0], [1, 0]], [[1, 0], [0.5, 0.5]]
    assert maximal_alpha_leakage(silent, 2, 3).bound == 0
    assert maximal_alpha_leakage([[0.3, 0.7]], 2).bound == 0
    lifts = alpha_lift(silent, [0.5, 0.5], 2)
    assert lifts[0] == 1 and math.isnan(lifts[1])
    assert sibson_information(silent, [0.5, 0.5], 2) == 0
    for orders in ((2, 1.5), (2, 2), (INF, 2), (INF, INF), (2, INF)):
        assert maximal_alpha_leakage(half, *orders).value == INF
    assert maximal_alpha_leakage(half, 2).bound < 1
    assert maximal_alpha_leakage([[1, 1e-300], [0.5, 0.5]], 2).bound < 1
    tiny = 0.5 + np.array([[1e-12, -1e-12], [-1e-12, 1e-12]])
    assert 0 <= maximal_alpha_leakage(tiny, 2).value <= maximal_alpha_leakage(tiny, 2).bound < 1e-12


@pytest.mark.parametrize("order", [1, 0.5, 0, -2, math.nan, "2", None, [2], 2j, -INF])
def test_orders_are_refused_by_name(order):
    with pytest.raises(ValueError, match="alpha = "):
        maximal_alpha_leakage(FLIP, order)
    for call in (alpha_lift, sibson_information):
        with pytest.raises(ValueError, match="alpha = "):
            call(FLIP, [0.5, 0.5], order)
    if order != 1:
        with pytest.raises(ValueError, match="beta = "):
            maximal_alpha_leakage(FLIP, 2, order)


def test_fractions_are_orders():
    same = maximal_alpha_leakage(FLIP, Fraction(5, 2), Fraction(3, 2))
    assert same == maximal_alpha_leakage(FLIP, 2.5, 1.5)


def test_a_prior_meets_a_channel_by_name():
    rows = pd.DataFrame([[0.7, 0.3], [0.2, 0.8]], ["a", "b"])
    prior = pd.Series({"b": 0.9, "a": 0.1})
    assert np.array_equal(alpha_lift(rows, prior, 2), alpha_lift(rows.to_numpy(), [0.1, 0.9], 2))
    expected = sibson_information(rows.to_numpy(), [0.1, 0.9], 2)
    assert sibson_information(rows, prior, 2) == expected


def test_dit_says_the_same():
    dit = pytest.importorskip("dit")
    divergence = dit.divergences.renyi_divergence

    def law(weights):
        return dit.Distribution([str(k) for k in range(len(weights))], list(weights))

    for seed in range(6):
        prior, rows = world(seed)
        for alpha in (1.5, 2, 4):
            lifts = alpha_lift(rows, prior, alpha)
            for column, lift in zip(rows.T, lifts):
                after = law(prior * column / (prior @ column))
                bits = divergence(after, law(prior), alpha)
                assert alpha / (alpha - 1) * math.log(lift) == pytest.approx(
                    bits * math.log(2), rel=1e-9
                )
            pairs = permutations(map(law, rows), 2)
            bits = max(divergence(p, q, alpha) for p, q in pairs)
            found = maximal_alpha_leakage(rows, alpha, alpha)
            assert found.value == pytest.approx(bits * math.log(2), rel=1e-9)


def test_qif_says_the_same_of_refinement():
    """The chapter's pair: below in all measures, refined in none of three senses, and a post-processing is."""
    refinement = pytest.importorskip("qif").refinement
    first = np.array([[1, 0], [0.4, 0.6]])
    after = first @ np.array([[0.75, 0.25], [0.5, 0.5]])
    assert refinement.refined_by(first, after) and refinement.max_refined_by(first, after)
    assert not refinement.refined_by(first, FLIP) and not refinement.max_refined_by(first, FLIP)
    assert refinement.priv_refined_by(first, FLIP)  # its first channel has no level at all


@pytest.mark.parametrize("beyond", [2.0**-52, 1e-14, 1e-10, 1e-6])
def test_near_order_one_sibson_s_information_is_mutual_information(beyond):
    rows, prior = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]), [0.6, 0.3, 0.1]
    told = float((prior @ (rows * np.log(rows / (prior @ rows)))).sum())
    found = sibson_information(rows, prior, 1 + beyond)
    assert told * (1 - 1e-13) <= found <= told + beyond  # its slope at one is below one here


def test_near_order_one_the_bound_is_maximal_leakage_and_a_wide_interval_is_warned_of():
    rows = [[0.75, 0.25], [0.25, 0.75]]
    with pytest.warns(pb.LooseBound, match="the exact number lies between$"):
        found = maximal_alpha_leakage(rows, 1 + 1e-14)
    assert 0 <= found.value <= found.bound <= math.log(1.5) * (1 + 1e-14)


@pytest.mark.parametrize("alpha", [1.5, 1e308, math.inf])
def test_an_order_beyond_the_floats_is_refused(alpha):
    """beta = 1e308 gave nan, or 0 to inf, for orders that floats cannot multiply logarithms by."""
    rows = [[0.5, 0.5], [0.2, 0.8]]
    with pytest.raises(ValueError, match=r"beta = 1e\+308 is finite, but above 1e\+300"):
        maximal_alpha_leakage(rows, alpha, 1e308)
    near = maximal_alpha_leakage(rows, alpha, 1e300)
    worst = maximal_alpha_leakage(rows, alpha, math.inf)
    assert near.value == pytest.approx(worst.value, rel=1e-9) and near.bound < math.inf


def test_near_order_one_a_far_bound_is_said():
    with pytest.warns(pb.LooseBound):
        maximal_alpha_leakage([[1.0], [0.9999999999999999]], np.nextafter(1, 2), np.inf)
