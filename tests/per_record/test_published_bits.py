"""Bits published one by one: what is known without a search, and strategies that see earlier outputs."""

import math

import numpy as np
import pytest
from scipy.special import entr

import pmlbook as pb
from pmlbook.numerics.progress import Clock
from pmlbook.per_record.published_bits import (
    counting_problem,
    separate_bound,
    sequential_bound,
)

LN2 = math.log(2)
SKEWED = np.array([[0.9, 0.1], [0.3, 0.7]])


def information(joint):
    """I(A; Y) of a joint distribution, shape (2, Y)."""
    marginals = entr(joint.sum(axis=0)).sum() + entr(joint.sum(axis=1)).sum()
    return float(marginals - entr(joint).sum())


def test_what_needs_no_search():
    """Useless noise leaks nothing, no noise leaks all, and one bit is compared with the other search."""
    silent = pb.records.bits_leakage(3, [[0.5, 0.5], [0.5, 0.5]], 1.0)
    clear = pb.records.bits_leakage(3, np.eye(2), 2 * LN2)
    alone = pb.records.bits_leakage(1, SKEWED, 0.5)
    judge = pb.per_record_leakage(pb.queries.counting(1), SKEWED, 0.5)
    assert silent.value < 1e-12 and silent.bound < 1e-3
    assert clear.value == pytest.approx(LN2, abs=1e-12) and clear.bound == np.nextafter(LN2, 1)
    assert alone.value == pytest.approx(judge.value, abs=1e-9) and alone.gap < 1e-4


def test_counts_are_what_they_say():
    """Rows of the classes against a list of all datasets and outputs of four bits."""
    problem = counting_problem(4, SKEWED)
    for own in (0, 1):
        for ones in range(4):
            others = [1] * ones + [0] * (3 - ones)
            row = np.zeros(8)
            for y in np.ndindex(2, 2, 2, 2):
                chance = np.prod([SKEWED[x, z] for x, z in zip([own, *others], y)])
                row[4 * y[0] + sum(y[1:])] += chance
            assert np.allclose(problem.rows[own, ones], row, rtol=0, atol=1e-15)
    assert np.allclose(np.exp(problem.log_counts), [[1, 3, 3, 1]] * 2, rtol=1e-14, atol=0)


def test_no_strategy_that_sees_outputs_exceeds_the_bound():
    """Three bits: one choice at first, and one for each output; all of it listed."""
    rng, best = np.random.default_rng(3), -np.inf
    multiplier, limit = 0.2, sequential_bound(3, SKEWED, 0.2, 128, Clock())
    for _ in range(3000):
        belief = np.array([1 - (t := rng.uniform(0.3, 0.7)), t])
        first, second = rng.random(2), rng.random((2, 2))  # by record; by output and record
        joint, kept = np.zeros((2, 2, 2, 2)), entr(belief).sum()
        for a, y in np.ndindex(2, 2):
            seen = belief[a] * (SKEWED[0, y] * (1 - first[a]) + SKEWED[1, y] * first[a])
            kept += seen * entr([second[y, a], 1 - second[y, a]]).sum()
            then = SKEWED[0] * (1 - second[y, a]) + SKEWED[1] * second[y, a]
            joint[a, y] = seen * np.outer(then, SKEWED[a])
        kept += belief @ (entr(first) + entr(1 - first))
        best = max(best, information(joint.reshape(2, -1)) + multiplier * kept)
    assert limit - 0.05 < best <= limit


def test_refusals():
    for n, channel, b, message in (
        (3, np.eye(3)[:2], 1.0, "two outputs"),
        (3, np.eye(2), 3.0, "exceeds the entropy"),
        (513, np.eye(2), 3.0, "n = 513 must be at most 512"),
    ):
        with pytest.raises(ValueError, match=message):
            pb.records.bits_leakage(n, channel, b)


def test_fair_bits_cost_an_asymmetric_channel_nothing():
    """A further fair bit adds ln 2 to the entropy and hides nothing."""
    channel = [[1, 0], [0.34, 0.66]]
    two = pb.records.bits_leakage(2, channel, 1.4 * LN2)
    three = pb.records.bits_leakage(3, channel, 2.4 * LN2)
    assert two.value - 1e-9 <= three.value <= three.bound
    assert three.prior.entropy >= 2.4 * LN2 - 1e-12
    assert three.prior.entropy == pytest.approx(two.prior.entropy + LN2, abs=1e-9)


def test_a_bound_by_itself_holds_for_products():
    """Independent bits with one bias: entropy and leakage in closed form, for 40 bits."""
    for flip in (0.05, 0.2, 0.45):
        channel = np.array([[1 - flip, flip], [flip, 1 - flip]])
        for bias in (0.0, 0.05, 0.2):
            rows = np.array([0.5 - bias, 0.5 + bias])
            problem = counting_problem(40, channel)
            ones = np.arange(40)
            logs = np.outer(np.log(rows[::-1]), ones) + np.outer(np.log(rows), 39 - ones)
            classes = np.exp(problem.log_counts + logs[::-1]) / 2
            level = problem.entropy(classes)
            assert level == pytest.approx(LN2 + 39 * entr(rows).sum(), abs=1e-10)
            assert problem.leakage(classes) <= separate_bound(40, channel, level)


def test_many_bits_close_near_the_largest_entropy():
    """Two hundred bits, where the recursion alone leaves five thousandths of a nat."""
    channel, level = np.array([[0.55, 0.45], [0.45, 0.55]]), 0.999 * 200 * LN2
    problem = counting_problem(200, channel)
    value = 0.006378
    assert 0 < separate_bound(200, channel, level) - value < 1e-4
    assert problem.largest_entropy == pytest.approx(200 * LN2, rel=1e-14)
