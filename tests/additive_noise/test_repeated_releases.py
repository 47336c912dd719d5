"""Joint levels of many releases: against every sequence, against `compose`, and at the edges."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import pmlbook as pb
from pmlbook.budget import repeated_releases as module

FLIP = [[0.75, 0.25], [0.25, 0.75]]
CLINIC = [0.6, 0.3, 0.1]
repeated = pb.budget.repeated_leakage


def largest(rows, shares, k):
    """The largest lift of any sequence of k outcomes, and those that have it."""
    best, winners = Fraction(0), []
    for sequence in product(range(len(rows[0])), repeat=k):
        column = [math.prod(Fraction(row[y]) for y in sequence) for row in rows]
        if any(column):
            lift = max(column) / sum(Fraction(p) * v for p, v in zip(shares, column))
            if lift > best:
                best, winners = lift, []
            if lift == best:
                winners.append(tuple(np.bincount(sequence, minlength=len(rows[0])).tolist()))
    return best, winners


@pytest.mark.parametrize("seed", range(40))
def test_every_sequence_of_dyadic_channels(seed):
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
    cuts = np.sort(rng.integers(0, 17, size=(n, m - 1)), axis=1)
    rows = np.diff(np.hstack([np.zeros((n, 1)), cuts, np.full((n, 1), 16)]), axis=1) / 16
    shares = (rng.multinomial(64 - n, np.ones(n) / n) + 1) / 64
    found = repeated(rows, shares, k)
    best, winners = largest(rows.tolist(), shares.tolist(), k)
    assert found.exact and found.largest_lift == best and sum(found.counts) == k
    column = [math.prod(Fraction(e) ** t for e, t in zip(r, found.counts)) for r in rows.tolist()]
    mean = sum(Fraction(p) * v for p, v in zip(shares.tolist(), column))
    assert column[found.secret] == best * mean
    assert Fraction(found.bound) >= Fraction(found.value) and found.bound <= found.limit


def test_the_bound_is_the_level_of_the_joint_release():
    rng = np.random.default_rng(3)
    for _ in range(20):
        made = pb.Mechanism(rng.dirichlet(np.ones(3), 3), rng.dirichlet(np.ones(3)))
        joint = pb.budget.compose(*[made] * 6)
        found = repeated(made.channel, made.exact_prior, 6)
        assert (found.largest_lift, found.bound) == (joint.largest_lift, joint.epsilon)
        assert found.bound - found.value <= 2 * np.spacing(found.bound)


def test_no_release_and_no_information():
    for channel, prior in ((FLIP, [0.5, 0.5]), ([[1]], [1]), ([[0.5, 0.5]], [1])):
        assert repeated(channel, prior, 0)[1:3] == (1, True)
    for channel, prior in (([[0.3, 0.7]] * 3, CLINIC), ([[1], [1]], [0.5, 0.5]), ([[1]], [1])):
        for k in (1, 7, 10**9):
            found = repeated(channel, prior, k)
            assert found.value == found.bound == found.limit == 0 and sum(found.counts) == k


def test_equal_rows_are_one_secret():
    whole = repeated(FLIP, [0.5, 0.5], 9)
    split = repeated([FLIP[0], FLIP[1], FLIP[1]], [0.5, 0.25, 0.25], 9)
    assert split.largest_lift == whole.largest_lift and split.limit == whole.limit
    assert repeated([[1, 0], [0, 1], [0, 1]], CLINIC, 10**6).largest_lift == 1 / Fraction(
        pb.Mechanism(np.eye(3), CLINIC).exact_prior[1]
        + pb.Mechanism(np.eye(3), CLINIC).exact_prior[2]
    )


def test_outcomes_with_proportional_columns_are_one():
    twice = [[0.25, 0.5, 0.25], [0.125, 0.25, 0.625]]
    found = repeated(twice, [0.5, 0.5], 2000)
    once = repeated([[0.75, 0.25], [0.375, 0.625]], [0.5, 0.5], 2000)
    assert found.exact and found.largest_lift == once.largest_lift and found.counts[1] == 0


def test_zeros_exclude():
    """Three outcomes exclude one secret each: any two of them leave one."""
    wrong = [[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]
    third = [Fraction(1, 3)] * 3
    assert [repeated(wrong, third, k).largest_lift for k in (1, 2, 50)] == [Fraction(3, 2), 3, 3]
    assert repeated(wrong, third, 10**9).exact


def test_tiny_numbers():
    rare = [1 - 2**-30, 2**-30]
    for k in (1, 1000):
        found = repeated([[1 - 2**-20, 2**-20], [1, 0]], rare, k)
        assert found.largest_lift == 1 / (
            Fraction(2) ** -30 + (1 - Fraction(2) ** -30) * (1 - Fraction(2) ** -20) ** k
        )
        assert found.exact and found.secret == 1
    least = repeated([[1 - 5e-324, 5e-324], [1 - 1e-320, 1e-320]], [0.5, 0.5], 100)
    assert least.exact and least.value <= math.log(2) <= least.bound


def test_rows_that_differ_in_the_last_digit():
    """Far too many types are nearly as good: the bracket stays right, and narrow."""
    found = repeated([[0.5, 0.5], [0.5 + 2**-53, 0.5 - 2**-53]], [0.25, 0.75], 1000)
    own, other = Fraction(1, 2), Fraction(1, 2) - Fraction(1, 2**53)
    lift = 1 / (Fraction(1, 4) + Fraction(3, 4) * (other / own) ** 1000)
    assert Fraction(found.value) <= lift - 1 <= Fraction(found.bound) * (1 + Fraction(1, 10**9))
    assert 0 < found.value <= found.bound < found.value + 2e-14


@pytest.mark.parametrize("k", [10**5, 10**9, 10**15])
def test_huge_numbers_of_releases(k):
    found = repeated(FLIP, [0.5, 0.5], k)
    assert (
        found.limit == found.bound and found.value >= 0.6931471805599453 and sum(found.counts) == k
    )


@pytest.mark.parametrize("seed", range(12))
def test_a_bracket_holds_what_is_listed(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(2, 6)), int(rng.integers(2, 5)), int(rng.integers(1, 15))
    rows = rng.dirichlet(np.ones(m), n)
    if seed % 3 == 0:
        rows[0, 0] = 0
        rows[0] /= rows[0].sum()
    prior = rng.dirichlet(np.ones(n))
    listed = repeated(rows, prior, k)
    monkeypatch.setattr(module, "MAX_TYPE_PAIRS", 0)
    bracket = repeated(rows, prior, k)
    assert bracket.largest_lift <= listed.largest_lift and listed.value <= bracket.bound
    monkeypatch.setattr(module, "MAX_NUMBER_BITS", 0)
    short = repeated(rows, prior, k)
    assert not short.exact and short.largest_lift <= listed.largest_lift <= 1 / Fraction(0.999e-8)
    assert short.value <= listed.bound and listed.value <= short.bound
    monkeypatch.undo()
    monkeypatch.setattr(module, "MAX_NUMBER_BITS", 0)
    near = repeated(rows, prior, k)
    assert near.value <= listed.bound and listed.value <= near.bound <= near.value + 1e-9


def test_bad_input():
    for k, said in (
        (-1, "releases = -1"),
        (1.5, "whole number"),
        (10**16, "must be at most"),
        (10**5000, "a long int must be at most"),
        (math.nan, "nan"),
    ):
        with pytest.raises(ValueError, match=said):
            repeated(FLIP, [0.5, 0.5], k)
    with pytest.raises(pb.InvalidChannel, match="row 0 of channel sums to 1.1"):
        repeated([[0.5, 0.6], [0.5, 0.5]], [0.5, 0.5], 2)
    with pytest.raises(pb.InvalidPrior, match=r"prior\[0\] = 0"):
        repeated(FLIP, [0, 1], 2)
    with pytest.raises(pb.InvalidChannel, match="2 rows"):
        repeated(FLIP, CLINIC, 2)


def test_names_meet():
    channel = pd.DataFrame(FLIP, ["no", "yes"])
    found = repeated(channel, {"yes": 0.25, "no": 0.75}, 5)
    assert found.secret == "yes" and found[1:3] == repeated(FLIP, [0.75, 0.25], 5)[1:3]


def test_the_menu_of_one_mechanism_is_the_mechanism():
    pooled = np.hstack([FLIP, FLIP]) / 2
    assert (
        repeated(pooled, [0.5, 0.5], 7).largest_lift == repeated(FLIP, [0.5, 0.5], 7).largest_lift
    )


def test_thousands_of_digits_can_be_shown():
    found = repr(repeated(FLIP, [0.3, 0.7], 50_000))
    assert (
        found
        == "RepeatedLeakage(50000 releases leak 1.20398 nats, limit 1.20398, worst (50000, 0))"
    )
    assert "leak 0.69314718 to 0.6931471" in repr(repeated(FLIP, [0.5, 0.5], 10**9))


def test_a_flat_beginning_hides_no_better_type():
    """Thousands of types are within the error of the first ones; the best comes last."""
    tiny = 2**-50
    rows = [[0.25, 0.25, 0.5], [0.25 + tiny, 0.25, 0.5 - tiny]]
    for channel in (rows, [row[::-1] for row in rows], [[row[1], row[2], row[0]] for row in rows]):
        found = repeated(channel, [0.5, 0.5], 200)
        best = max(
            1 / (Fraction(1, 2) + Fraction(1, 2) * Fraction(a) ** 200 / Fraction(b) ** 200)
            for pair in (channel, channel[::-1])
            for a, b in zip(*pair)
        )
        assert found.largest_lift <= best and Fraction(found.bound) >= (best - 1) * (1 - best + 1)
        assert best == found.largest_lift or not found.exact
