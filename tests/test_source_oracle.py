"""Sets of intervals against their vertices listed in fractions, and against a programme that uses only the ends."""

import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import pmlbook as pb
from pmlbook.hamming.intervals import IntervalSet, members
from pmlbook.hamming.mechanisms import is_valid, worst_distortion
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
    return IntervalSet(low, high), rng


def wrongs(mechanism):
    """Probability of a wrong answer for each symbol, exactly, from the stored integers."""
    rows = mechanism.weights.tolist()
    return [Fraction(sum(row) - row[i], sum(row)) for i, row in enumerate(rows)]


def largest_ratio(mechanism):
    columns = [column for column in mechanism.weights.T.tolist() if any(column)]
    return max(Fraction(max(column), min(column)) for column in columns if all(column))


@pytest.mark.parametrize("seed", range(40))
def test_the_oracle_names_the_worst_vertex(seed):
    known, rng = drawn(seed)
    listed = vertices(known.low, known.high)
    for losses in (rng.integers(-3, 4, known.size).tolist(), rng.normal(size=known.size).tolist()):
        exact = [Fraction(loss) for loss in losses]
        worst = known.worst(losses)
        assert sum(worst) == 1
        assert all(a <= q <= b for a, q, b in zip(known.limits[0], worst, known.limits[1]))
        means = [
            sum(p * d for p, d in zip(distribution, exact)) for distribution in [worst, *listed]
        ]
        assert means[0] == max(means[1:])


@pytest.mark.parametrize("seed", range(40))
def test_the_flattest_member_has_the_least_of_its_largest_shares(seed):
    known, _ = drawn(seed)
    tops = [
        np.cumsum(sorted(map(float, distribution), reverse=True))
        for distribution in vertices(known.low, known.high)
    ]
    own = np.cumsum(np.sort(known.flattest)[::-1])
    assert (own <= np.min(tops, axis=0) + 1e-13).all() and abs(own[-1] - 1) < 1e-13


@pytest.mark.parametrize("seed", range(30))
def test_designs_agree_with_those_for_the_listed_vertices(seed):
    known, rng = drawn(seed, 5)
    listed = pb.robust.SourceSet(np.array(vertices(known.low, known.high), dtype=float))
    assert known.kind == listed.kind
    limit, level = float(rng.uniform(0.02, 0.9)), float(rng.uniform(0.01, 3))
    exact = vertices(known.low, known.high)

    design, judge = pb.dp_leakage(known, limit), pb.dp_leakage(listed, limit)
    assert design.value == pytest.approx(judge.value, abs=1e-7) and design.gap < 1e-8
    assert design.bound <= judge.value + 1e-12 and judge.bound <= design.value + 1e-12
    wrong = wrongs(design.mechanism)
    worst = max(sum(p * d for p, d in zip(distribution, wrong)) for distribution in exact)
    assert worst <= Fraction(limit) + (Fraction(1, 10**14) if design.method == "constant" else 0)
    assert Fraction(worst_distortion(design.mechanism.channel, known)) >= worst * (
        1 - Fraction(1, 2**48)
    )

    design, judge = pb.min_distortion(known, level), pb.min_distortion(listed, level)
    assert design.value == pytest.approx(judge.value, abs=1e-8) and design.gap < 1e-8
    worst = max(
        sum(p * d for p, d in zip(distribution, wrongs(design.mechanism))) for distribution in exact
    )
    assert Fraction(design.bound) <= worst <= Fraction(design.value)
    assert largest_ratio(design.mechanism) <= exp_below(level)

    loss = rng.normal(size=(known.size, int(rng.integers(1, 4)))).round(1)
    design = pb.robust.min_loss(known, loss, level)
    judge = pb.robust.min_loss(listed, loss, level)
    assert design.value == pytest.approx(judge.value, abs=1e-7) and design.gap < 1e-7
    assert design.bound <= judge.value + 1e-12 and judge.bound <= design.value + 1e-12


def test_the_bound_does_not_come_from_the_value(monkeypatch):
    """With even distortions in the place of the best the bound stays below the true optimum."""
    known = IntervalSet([0.4, 0.2, 0.05], [0.6, 0.4, 0.2])
    best = pb.dp_leakage(known.listed(), 0.5).value
    from pmlbook.hamming import exact

    monkeypatch.setattr(
        exact, "evened_at_water_level", lambda known, values: np.full(len(values), 0.2)
    )
    with pytest.warns(pb.LooseBound):
        design = pb.dp_leakage(known, 0.5)
    assert design.bound <= best < design.value - 0.01
    assert max(
        sum(p * d for p, d in zip(distribution, wrongs(design.mechanism)))
        for distribution in vertices(known.low, known.high)
    ) <= Fraction(0.5)


def test_three_hundred_symbols_and_labels():
    p = np.random.default_rng(1).dirichlet(np.ones(300))
    low = pd.Series(np.maximum(p - 0.01, 0), [f"s{k}" for k in range(300)])
    known = IntervalSet(low, pd.Series(p + 0.01, low.index).iloc[::-1])
    assert known.inputs == tuple(low.index) and (known.high >= p).all()
    for limit in (0.05, 0.5, 0.9):
        design = pb.dp_leakage(known, limit)
        assert design.gap < 1e-8 and is_valid(design.mechanism.channel, known, limit)
        assert design.mechanism.inputs == known.inputs
        assert known.contains(pd.Series(design.distribution, low.index).iloc[::-1])
    assert pb.min_distortion(known, 2.0).gap < 1e-9
    with pytest.raises(ValueError, match="300 symbols have too many vertices"):
        known.listed()


@pytest.mark.parametrize("seed", range(30))
def test_least_information_needs_few_members(seed):
    """All vertices were listed, which took minutes for twelve symbols, and was refused for more."""
    known, rng = drawn(seed)
    listed = [[float(p) for p in vertex] for vertex in vertices(known.low, known.high)]
    for limit in (0, 1e-7, rng.uniform(0.01, 0.6)):
        design, judge = pb.mi_leakage(known, limit), pb.mi_leakage(listed, limit)
        assert design.gap < 1e-9 and design.bound <= judge.value and judge.bound <= design.value
        assert max(
            sum(p * d for p, d in zip(distribution, wrongs(design.mechanism)))
            for distribution in vertices(known.low, known.high)
        ) <= Fraction(limit)
        assert known.contains(design.distribution)


def test_least_information_of_many_intervals():
    shares = np.random.default_rng(3).dirichlet(np.ones(40))
    known = IntervalSet(np.maximum(shares - 0.03, 0), shares + 0.03)
    design = pb.mi_leakage(known, 0.3)
    assert design.gap < 1e-9 and is_valid(design.mechanism.channel, known, 0.3)


@pytest.mark.parametrize("limit", [1e-8, 1e-6, 0.999999, 1.0])
def test_distortions_at_the_ends(limit):
    known = IntervalSet([0.5, 0.1, 1e-8, 0], [0.8, 0.4, 2e-8, 0])
    design = pb.dp_leakage(known, limit)
    assert design.gap <= 1e-6 * max(1, design.value)
    assert max(
        sum(p * d for p, d in zip(distribution, wrongs(design.mechanism)))
        for distribution in vertices(known.low, known.high)
    ) <= Fraction(limit)


@pytest.mark.parametrize("level", [0.0, 1e-6, 40.0, 800.0])
def test_levels_at_the_ends(level):
    known = IntervalSet([0.5, 0.1, 1e-8], [0.8, 0.4, 2e-8])
    design, judge = pb.min_distortion(known, level), pb.min_distortion(known.listed(), level)
    assert design.bound <= design.value and abs(design.value - judge.value) < 1e-8
    assert largest_ratio(design.mechanism) <= exp_below(level)


def test_rounded_ends_and_single_members():
    ten = IntervalSet([0.1] * 10, [0.1] * 10)
    assert sum(ten.limits[0]) <= 1 <= sum(ten.limits[1]) and ten.kind == "I"
    p = [0.7, 0.2, 0.1]
    assert pb.dp_leakage(IntervalSet(p, p), 0.2).value == pytest.approx(
        pb.dp_leakage([p], 0.2).value, abs=1e-12
    )
    assert pb.dp_leakage(IntervalSet([0, 0], [1, 1]), 0.25).value == pytest.approx(
        np.log(3), abs=1e-12
    )
    known = IntervalSet([0.4, 0.4, 0.0], [0.6, 0.6, 0.1])
    assert pickle.loads(pickle.dumps(known)) == known and members(known).tolist() == [
        known.flattest.tolist()
    ]


@pytest.mark.parametrize(
    "low, high, message",
    [
        ([0.5, 0.6], [0.7, 0.8], "no distribution lies between low and high, which sum to 1.1"),
        ([0.1, 0.1], [0.2, 0.2], "no distribution lies between"),
        ([0.3, -0.1], [0.9, 0.9], r"low\[1\] = -0.1 must lie from 0 to high\[1\] = 0.9"),
        ([0.3, 0.5], [0.9, 0.4], r"low\[1\] = 0.5 must lie from 0 to high\[1\] = 0.4"),
        ([0.3, 0.5], [0.9], "high has 1 entries, but low has 2"),
        ([0.3, np.nan], [0.9, 0.4], r"low\[1\] = nan is not finite"),
    ],
)
def test_refusals(low, high, message):
    with pytest.raises(ValueError, match=message):
        IntervalSet(low, high)


def test_names_of_either_end_and_of_the_losses_count():
    """Names of the upper ends were lost, and losses went by their position."""
    high = pd.Series([0.5, 0.4, 0.3], index=list("cba"))
    known = IntervalSet([0.3, 0.2, 0.1], high)
    assert known.inputs == ("c", "b", "a")
    assert known.contains(pd.Series([0.3, 0.2, 0.5], index=list("abc")))
    losses = pd.Series([5, 0, 0], index=list("abc"))
    assert [float(p) for p in known.worst(losses)][2] == 0.3
    for bad in ([1, 2], [1, 2, float("nan")]):
        with pytest.raises(ValueError, match="losses must be 3 finite numbers"):
            known.worst(bad)
