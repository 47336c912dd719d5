"""Intervals for the shares: designs against those for the vertices, listed in fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import pmlbook as pb
from pmlbook.hamming.mechanisms import is_valid, worst_distortion
from pmlbook.hamming.source_sets import as_known
from pmlbook.release.certificate import exp_below


def vertices(low, high):
    """Vertices of the set in fractions: all shares but one at an end, the last takes what is left."""
    low, high = (list(map(Fraction, ends)) for ends in (low, high))
    found = set()
    for k in range(len(low)):
        for others in product(*(zip(low[:k] + low[k + 1 :], high[:k] + high[k + 1 :]))):
            left = 1 - sum(others)
            if low[k] <= left <= high[k]:
                found.add((*others[:k], left, *others[k:]))
    return sorted(found)


def drawn(seed, most=6):
    """Random intervals: wide and narrow ones, points, zeros, ties, and shares down to 1e-8."""
    rng = np.random.default_rng([16, seed])
    m = int(rng.integers(2, most + 1))
    p = (
        rng.multinomial(20, rng.dirichlet(np.ones(m))) / 20
        if seed % 3
        else rng.dirichlet([0.4] * m)
    )
    reach = rng.choice([1e-8, 0.02, 0.1, 0.4]) * rng.choice([0, 0.5, 1], m)
    low, high = np.maximum(p - reach, 0), np.minimum(p + reach, 1)
    if sum(map(Fraction, low)) > 1 or sum(map(Fraction, high)) < 1:  # by rounding: one member
        low, high = low * (1 - 2.0**-50), np.minimum(high * (1 + 2.0**-50), 1)
    return (low, high), rng


def largest_mean(wrong, distributions):
    return max(sum(p * d for p, d in zip(distribution, wrong)) for distribution in distributions)


def wrongs(mechanism):
    """Probability of a wrong answer for each symbol, exactly, from the stored integers."""
    rows = mechanism.weights.tolist()
    return [Fraction(sum(row) - row[i], sum(row)) for i, row in enumerate(rows)]


def largest_ratio(mechanism):
    columns = [column for column in mechanism.weights.T.tolist() if any(column)]
    return max(Fraction(max(column), min(column)) for column in columns if all(column))


@pytest.mark.parametrize("seed", range(30))
def test_designs_agree_with_those_for_the_listed_vertices(seed):
    known, rng = drawn(seed, 5)
    exact = vertices(*known)
    listed = np.array(exact, dtype=float)
    limit, level = float(rng.uniform(0.02, 0.9)), float(rng.uniform(0.01, 3))

    design, judge = pb.dp_leakage(known, limit), pb.dp_leakage(listed, limit)
    assert design.value == pytest.approx(judge.value, abs=1e-7) and design.gap < 1e-8
    assert design.bound <= judge.value + 1e-12 and judge.bound <= design.value + 1e-12
    worst = largest_mean(wrongs(design.mechanism), exact)
    assert worst <= Fraction(limit) + (Fraction(1, 10**14) if design.method == "constant" else 0)
    stated = Fraction(worst_distortion(design.mechanism.channel, known))
    assert stated >= worst * (1 - Fraction(1, 2**48))

    design, judge = pb.min_distortion(known, level), pb.min_distortion(listed, level)
    assert design.value == pytest.approx(judge.value, abs=1e-8) and design.gap < 1e-8
    worst = largest_mean(wrongs(design.mechanism), exact)
    assert Fraction(design.bound) <= worst <= Fraction(design.value)
    assert largest_ratio(design.mechanism) <= exp_below(level)


@pytest.mark.parametrize("seed", range(30))
def test_least_information_needs_few_members(seed):
    """All vertices were listed, which took minutes for twelve symbols, and was refused for more."""
    known, rng = drawn(seed)
    exact = vertices(*known)
    listed = np.array(exact, dtype=float)
    for limit in (0, 1e-7, rng.uniform(0.01, 0.6)):
        design, judge = pb.mi_leakage(known, limit), pb.mi_leakage(listed, limit)
        assert design.gap < 1e-9 and design.bound <= judge.value and judge.bound <= design.value
        assert largest_mean(wrongs(design.mechanism), exact) <= Fraction(limit)
        assert (known[0] - 1e-12 <= design.distribution).all()
        assert (design.distribution <= known[1] + 1e-12).all()


def test_least_information_of_many_intervals():
    shares = np.random.default_rng(3).dirichlet(np.ones(40))
    known = np.maximum(shares - 0.03, 0), shares + 0.03
    design = pb.mi_leakage(known, 0.3)
    assert design.gap < 1e-9 and is_valid(design.mechanism.channel, known, 0.3)


def test_three_hundred_symbols_with_names():
    p = np.random.default_rng(1).dirichlet(np.ones(300))
    low = pd.Series(np.maximum(p - 0.01, 0), [f"s{k}" for k in range(300)])
    known = low, pd.Series(p + 0.01, low.index).iloc[::-1]  # in another order
    for limit in (0.05, 0.5, 0.9):
        design = pb.dp_leakage(known, limit)
        assert design.gap < 1e-8 and is_valid(design.mechanism.channel, known, limit)
        assert design.mechanism.inputs == tuple(low.index)
        assert (abs(design.distribution - p) <= 0.01 + 1e-12).all()
    assert pb.min_distortion(known, 2.0).gap < 1e-9


@pytest.mark.parametrize("limit", [1e-8, 1e-6, 0.999999, 1.0])
def test_distortions_at_the_ends(limit):
    known = [0.5, 0.1, 1e-8, 0], [0.8, 0.4, 2e-8, 0]
    design = pb.dp_leakage(known, limit)
    assert design.gap <= 1e-6 * max(1, design.value)
    assert largest_mean(wrongs(design.mechanism), vertices(*known)) <= Fraction(limit)


@pytest.mark.parametrize("level", [0.0, 1e-6, 40.0, 800.0])
def test_levels_at_the_ends(level):
    known = [0.5, 0.1, 1e-8], [0.8, 0.4, 2e-8]
    design, judge = (
        pb.min_distortion(one, level) for one in (known, np.array(vertices(*known), dtype=float))
    )
    assert design.bound <= design.value and abs(design.value - judge.value) < 1e-8
    assert largest_ratio(design.mechanism) <= exp_below(level)


def test_single_members():
    p = [0.7, 0.2, 0.1]
    alone = pb.dp_leakage([p], 0.2).value
    for known in ((p, p), (p, [1, 1, 1]), ([0, 0, 0], p), ([0.7, 0.2, 0], [0.7, 0.2, 1])):
        assert pb.dp_leakage(known, 0.2).value == pytest.approx(alone, abs=1e-12)
    even = pb.dp_leakage(([0.1] * 10, [0.1] * 10), 0.3).value  # their floats sum to more than one
    assert even == pytest.approx(np.log(9 * 0.7 / 0.3), abs=1e-12)
    assert pb.dp_leakage(([0, 0], [1, 1]), 0.25).value == pytest.approx(np.log(3), abs=1e-12)


def test_a_tie_of_an_end_with_the_water_level():
    """The symbol at its upper end is as likely as those at the level: it is averaged with them."""
    known = [0.5, 0.1, 0.0, 0.0], [0.7, 0.25, 0.125, 0.4]
    listed = np.array(vertices(*known), dtype=float)
    for limit in (0.2, 0.3, 0.4, 0.49):
        design, judge = pb.dp_leakage(known, limit), pb.dp_leakage(listed, limit)
        assert design.value == pytest.approx(judge.value, abs=1e-9) and design.gap < 1e-9


@pytest.mark.parametrize(
    "low, high, message",
    [
        ([0.5, 0.6], [0.7, 0.8], "no distribution lies between low and high, which sum to 1.1"),
        ([0.1, 0.1], [0.2, 0.2], "no distribution lies between"),
        ([0.3, -0.1], [0.9, 0.9], r"low\[1\] = -0.1 must lie from 0 to high\[1\] = 0.9"),
        ([0.7, 0.3], [0.2, 0.8], "a tuple holds the ends of intervals, a list the vertices"),
        ([0.3, 0.5], [0.9], "high has 1 entries, but low has 2"),
        ([0.3, np.nan], [0.9, 0.4], r"low\[1\] = nan is not finite"),
    ],
)
def test_refusals(low, high, message):
    for design in (pb.dp_leakage, pb.mi_leakage):
        with pytest.raises(ValueError, match=message):
            design((low, high), 0.3)


def test_names_of_either_end_count():
    """Names of the upper ends were lost."""
    high = pd.Series([0.5, 0.4, 0.3], index=list("cba"))
    design = pb.dp_leakage(([0.3, 0.2, 0.1], high), 0.3)
    assert design.mechanism.inputs == ("c", "b", "a")
    with pytest.raises(ValueError, match="high"):
        pb.dp_leakage((pd.Series([0.3, 0.2, 0.1], index=list("xyz")), high), 0.3)


def test_the_flattest_member_has_the_least_of_its_largest_shares():
    for seed in range(40):
        known, _ = drawn(seed)
        tops = [np.cumsum(sorted(map(float, v), reverse=True)) for v in vertices(*known)]
        own = np.cumsum(np.sort(as_known(known).flattest)[::-1])
        assert (own <= np.min(tops, axis=0) + 1e-13).all() and abs(own[-1] - 1) < 1e-13
