"""Intervals that cover: exact ones at every number of people, score intervals nearly, and what estimates hand out."""

import pickle
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, gamma

import pmlbook as pb
from pmlbook.release.estimation import Estimate
from pmlbook.release.intervals import (
    clopper_pearson,
    exact_interval,
    min_value,
    nested_sets,
    score_interval,
)
from pmlbook.release.sampling import UNITS, to_weights

PLAIN = pb.Mechanism(np.eye(2), [0.5, 0.5], ("no", "yes"), ("no", "yes"))


def told(channel, counts):
    """An estimate from counts, secrets numbered."""
    channel = np.asarray(channel, dtype=float)
    even = np.full(len(channel), 1 / len(channel))
    return Estimate.from_counts(tuple(range(len(channel))), channel, np.array(counts, float), even)


def all_counts(people, outcomes):
    """Every split of a number of people."""
    return [c for c in product(range(people + 1), repeat=outcomes) if sum(c) == people]


def chance(counts, distribution):
    """Multinomial probability, exactly."""
    ways = factorial(sum(counts)) // prod(map(factorial, counts))
    return ways * prod((q**k for q, k in zip(distribution, counts)), start=Fraction(1))


@pytest.mark.parametrize("method", ["exact", "score"])
def test_one_value_or_none_of_a_kind_is_no_certainty(method):
    """An interval is neither [1, 1] for estimate([0]), nor [0, 0] for a count of zero."""
    alone = PLAIN.estimate(["no"]).interval(method=method)
    assert alone[0, 0] < 0.1 and alone[1, 1] > 0.9
    nobody = PLAIN.estimate(["no"] * 60).interval(method=method)
    assert nobody[1, 0] == 0 and 0.05 < nobody[1, 1] < 0.07


def test_coverage_in_fractions():
    """Three secrets, six people: exact sums over all counts, at shares with and without rare ones."""
    channel = np.array([[0.75, 0.25, 0], [0.125, 0.75, 0.125], [0, 0.25, 0.75]])
    goals = [np.array([0.0, 0, 1]), np.array([0.0, 1, 2])]
    truths = [(1, 1, 1), (98, 1, 1), (0, 0, 1), (1, 8, 91), (40, 0, 60)]
    tables = {}
    for counts in all_counts(6, 3):
        estimate = told(channel, counts)
        for k, goal in enumerate(goals):
            one = estimate.of(goal)
            tables[counts, k] = one.interval(0.9), one.interval(0.9, "score")
    for truth in truths:
        shares = [Fraction(t, sum(truth)) for t in truth]
        distribution = [
            sum(s * Fraction(p) for s, p in zip(shares, column)) for column in channel.T.tolist()
        ]
        for k, goal in enumerate(goals):
            value = sum(s * Fraction(g) for s, g in zip(shares, goal.tolist()))
            covered = [Fraction(0), Fraction(0)]
            for counts in all_counts(6, 3):
                for kind, (low, high) in enumerate(tables[counts, k]):
                    if Fraction(low) <= value <= Fraction(high):
                        covered[kind] += chance(counts, distribution)
            assert covered[0] >= Fraction(9, 10) and covered[1] > Fraction(88, 100)


@pytest.mark.parametrize("people", [1, 7, 60])
def test_identity_covers_at_one_in_a_hundred(people):
    """Earlier: 0.46 of 0.95 with sixty people."""
    weights = np.array([0.0, 1.0])
    for share in (Fraction(1, 100), Fraction(1, 1000), Fraction(1, 17)):
        covered = {"exact": Fraction(0), "score": Fraction(0)}
        for k in range(min(people, 12) + 1):  # more are unlikely, and count as missed
            counts = np.array([people - k, k], float)
            ends = {
                "exact": exact_interval(np.eye(2), counts, weights, weights, 0.95),
                "score": score_interval(np.eye(2), counts, weights, 0.95),
            }
            for kind, (low, high) in ends.items():
                if Fraction(low) <= share <= Fraction(high):
                    covered[kind] += comb(people, k) * share**k * (1 - share) ** (people - k)
        assert covered["exact"] >= Fraction(95, 100) and covered["score"] > Fraction(93, 100)


def test_clopper_pearson_in_fractions():
    """The tail at each limit is at most what was asked, in exact arithmetic, and hardly less."""
    for n, k in [(1, 0), (1, 1), (9, 4), (60, 1), (200, 199), (300, 150)]:
        for tail in (0.025, 1e-6, 1e-13):
            low, high = (Fraction(float(end)) for end in clopper_pearson(k, n, tail))
            for end, counts in ((low, range(k, n + 1)), (high, range(k + 1))):
                if 0 < end < 1:
                    total = sum(comb(n, j) * end**j * (1 - end) ** (n - j) for j in counts)
                    assert total <= Fraction(tail)
                    assert end > 0.99 or Fraction(tail) < total * (1 + Fraction(1, 10**5))


def binomial_tail(n, k, p):
    """Probability of at most k of n, in a hundred digits; k is small."""
    with localcontext(Context(prec=100)):
        term = total = (1 - p) ** n
        for j in range(k):
            term = term * (n - j) / (j + 1) * p / (1 - p)
            total += term
        return total


@pytest.mark.parametrize(
    ("k", "n", "tail"), [(1000, 57_734_769, 5.54e-12), (999, 97_132_233_443, 1.562e-15)]
)
def test_clopper_pearson_is_no_wider_than_it_must_be(k, n, tail):
    """The inverse gave a lower limit of 427 for 800, and an upper one of 1447 for 1270, by the gamma law of rare events."""
    low, high = clopper_pearson(k, n, tail)
    assert low * n == pytest.approx(gamma.ppf(tail, k), rel=1e-3)
    assert high * n == pytest.approx(gamma.isf(tail, k + 1), rel=1e-3)


@pytest.mark.parametrize("n", [10**6, 7 * 10**8, 10**9, 10**12])
def test_clopper_pearson_for_a_billion(n):
    """The inverse lost digits where 1 - p is rounded, and all of them for a thousand: an end of 487 for 939."""
    for k in (0, 1, 3, 9, 1000):
        for tail in (0.5, 0.05, 0.025, 1e-6, 1e-40):
            low, high = (Decimal(float(end)) for end in clopper_pearson(k, n, tail))
            share = binomial_tail(n, k, high) / Decimal(tail)
            assert 0.99 < share <= 1
            if k:
                share = (1 - binomial_tail(n, k - 1, low)) / Decimal(tail)
                assert 0.99 < share <= 1


@pytest.mark.parametrize("tail", [1e-300, 0, 1, -1, np.nan])
def test_tails_that_no_limit_is_computed_for(tail):
    """At 1e-300 a limit was nan, and another off by a seventh."""
    with pytest.raises(ValueError, match="tail = .* must lie between 1e-100 and 1"):
        clopper_pearson(5, 10, tail)
    for successes in (-1, 11, np.nan):
        with pytest.raises(ValueError, match="successes must lie between 0 and trials"):
            clopper_pearson(successes, 10, 0.05)


def test_bound_is_below_every_frequency_that_fits():
    """The rounded bound against thousands of distributions that satisfy the conditions, in fractions."""
    rng = np.random.default_rng(3)
    fitting = 0
    for _ in range(30):
        n, m = rng.integers(2, 5, size=2)
        channel = rng.dirichlet(np.ones(m), size=n) ** 3
        channel /= channel.sum(axis=1, keepdims=True)
        weights, goal = rng.normal(size=m), rng.normal(size=n) * 10.0 ** rng.integers(-6, 6)
        truth = rng.dirichlet(np.ones(n))
        sets, units = nested_sets(weights), to_weights(channel)
        inside = truth @ (units / UNITS) @ sets.T
        low, high = inside * 0.9, np.minimum(1, inside * 1.1)
        bound = min_value(goal, (units @ sets.T).tolist(), low, high)
        near = rng.dirichlet(200 * truth + 0.01, size=60)
        for other in [truth, *near]:
            chances = other @ (units / UNITS) @ sets.T
            if ((low + 1e-12 <= chances) & (chances <= high - 1e-12)).all():
                fitting += 1
                total = sum(map(Fraction, other.tolist()))
                value = sum(
                    Fraction(o) * Fraction(g) for o, g in zip(other.tolist(), goal.tolist())
                )
                assert Fraction(bound) <= value / total + Fraction(float(abs(goal).max())) / 10**12
    assert fitting > 100


def test_frequencies_that_nobody_expects():
    """Counts at which no frequencies fit the first conditions still give an interval, not an empty one."""
    noisy = pb.foundations.randomized_response(3, 0.5)
    for counts in ([30, 5, 25], [60, 15, 15], [0, 3, 3]):
        ends = told(noisy, counts).interval()
        assert (ends[:, 0] < ends[:, 1] - 1e-3).all() and (0 <= ends).all() and (ends <= 1).all()


def test_counts_that_contradict_the_mechanism():
    with pytest.raises(ValueError, match="the counts contradict the mechanism"):
        told(pb.foundations.randomized_response(3, 0.1), [3000, 4000, 50]).interval()


def test_functionals_by_name_by_array_and_by_function():
    ages = pb.Mechanism(
        pb.foundations.randomized_response(3, 1.0), [0.5, 0.3, 0.2], (10, 20, 40), (0, 1, 2)
    )
    estimate = ages.estimate([0] * 50 + [1] * 30 + [2] * 20)
    mean = estimate.of(float)
    assert mean.value == pytest.approx(estimate.frequencies @ [10, 20, 40], rel=1e-12)
    for same in ([10, 20, 40], pd.Series([40, 10, 20], [40, 10, 20]), {20: 20, 40: 40, 10: 10}):
        assert estimate.of(same) == mean
    goal = np.array([10.0, 20, 40])
    assert mean.standard_error**2 == pytest.approx(goal @ estimate.covariance @ goal, rel=1e-12)
    assert estimate.standard_errors[1] == pytest.approx(estimate.of([0, 1, 0]).standard_error)
    for method in ("exact", "score"):
        low, high = mean.interval(0.9, method)
        assert 10 <= low < mean.value < high <= 40
        wide = estimate.of(goal * 1e30).interval(0.9, method)
        assert wide == pytest.approx((low * 1e30, high * 1e30), rel=1e-6)
        assert estimate.of([7, 7, 7]).interval(0.9, method) == (7, 7)
    assert pickle.loads(pickle.dumps(mean)) == mean and hash(estimate) == hash(
        pickle.loads(pickle.dumps(estimate))
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1, 2], "functional has 2 entries, not 3"),
        ([1, 2, np.nan], "functional"),
        ({"no": 1}, "functional"),
        ([0, 0, 1e-200], "rescale"),
        ([0, 0, 1e200], "rescale"),
        ("mean", "functional"),
    ],
)
def test_bad_functionals(given, said):
    with pytest.raises(ValueError, match=said):
        told(pb.foundations.randomized_response(3, 1.0), [5, 3, 2]).of(given)


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, np.nan, "0.9", None, 1j])
def test_bad_confidences(confidence):
    with pytest.raises(ValueError, match="confidence = .* must lie strictly between 0 and 1"):
        PLAIN.estimate(["no"]).interval(confidence)
    with pytest.raises(ValueError, match="none of exact, score"):
        PLAIN.estimate(["no"]).interval(method="wald")


@pytest.mark.parametrize("method", ["exact", "score"])
def test_extreme_numbers(method):
    """A rare outcome of probability 1e-8, a million people, and levels up to nearly one."""
    rare = np.array([[1 - 1e-8, 1e-8], [0.5, 0.5]])
    many = told(rare, [10**6, 3]).interval(method=method)
    assert 0 < many[1, 0] < 6e-6 < many[1, 1] < 3e-5
    previous = None
    for confidence in (0.9, 0.99, 1 - 1e-9):
        ends = told(pb.foundations.randomized_response(3, 1.0), [50, 30, 20]).interval(
            confidence, method
        )
        if previous is not None:
            assert (ends[:, 0] <= previous[:, 0] + 1e-6).all()
            assert (ends[:, 1] >= previous[:, 1] - 1e-6).all()
        previous = ends


@pytest.mark.parametrize("rarest", [1e-20, 1e-32, 1e-100, 1e-300])
def test_what_a_prior_thinks_impossible_is_estimated_too(rarest):
    sure = pb.Mechanism(np.eye(2), [1, rarest]).estimate(["r0"] * 30 + ["r1"] * 70)
    assert np.allclose(sure.frequencies, [0.3, 0.7], rtol=0, atol=1e-12)
    rows = [[0.75, 0.25, 0], [0.25, 0.75, 0], [0, 0.5, 0.5]]
    mixed = pb.Mechanism(rows, [0.5, 0.5, rarest]).estimate(["r0"] * 30 + ["r1"] * 40 + ["r2"] * 30)
    assert np.allclose(mixed.frequencies @ np.array(rows), [0.3, 0.4, 0.3], rtol=0, atol=1e-9)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_score_intervals_nearly_cover_from_nine_tenths_on(confidence):
    """No noise, at both sides of every end: all counts added up."""
    goal = np.array([0.0, 1.0])
    for people in (1, 2, 5, 12, 30):
        half = [
            score_interval(np.eye(2), np.array([people - k, k], float), goal, confidence)
            for k in range(people + 1)
        ]
        low, high = np.array(half).T
        ends = np.concatenate([low, high, np.linspace(0.01, 0.5, 50)])
        shares = np.concatenate([ends * (1 - 1e-9), ends * (1 + 1e-9)]).clip(1e-9, 1 - 1e-9)
        inside = (low[:, None] <= shares) & (shares <= high[:, None])
        chances = binom.pmf(np.arange(people + 1)[:, None], people, shares)
        assert (chances * inside).sum(axis=0).min() > confidence - 0.03


def test_score_intervals_are_refused_below():
    """At one half, twelve people, the share 0.0388 was in no interval at all."""
    estimate = told(np.eye(2), [11, 1])
    for confidence in (0.5, 0.8, np.nextafter(0.9, 0)):
        with pytest.raises(ValueError, match="confidence = .* is below 0.9, .* use method='exact'"):
            estimate.interval(confidence, "score")
        assert estimate.interval(confidence).shape == (2, 2)


def test_score_intervals_are_refused_for_too_many():
    """Of ten billion people behind a weak flip a quarter of the intervals missed."""
    for people, works in ((10**8, True), (10**8 + 2, False), (10**12, False)):
        estimate = told([[0.501, 0.499], [0.499, 0.501]], [people // 2] * 2)
        if works:
            assert estimate.interval(0.95, "score").shape == (2, 2)
        else:
            with pytest.raises(ValueError, match="too many for the score interval"):
                estimate.interval(0.95, "score")
        assert estimate.interval(0.95).shape == (2, 2)


def test_a_solver_that_gives_up_makes_the_interval_wider():
    """Rows that differ in the seventh digit: the solver found neither frequencies nor that there are none."""
    rows = [
        [
            3950019972972560,
            68727434650926,
            110296169723486,
            91188137550193,
            4572833872430099,
            214133667413728,
        ],
        [
            3950016697731224,
            68727685497623,
            110303248222294,
            91188747222100,
            4572829342688342,
            214133533379409,
        ],
        [
            3950018589650838,
            68727625870665,
            110299296995890,
            91188047019837,
            4572830023747213,
            214135671456549,
        ],
        [
            3950016898883821,
            68727767817737,
            110296159157617,
            91188195657716,
            4572836272400044,
            214133960824057,
        ],
        [
            3950017830468767,
            68727366077265,
            110297272914587,
            91188046452384,
            4572829576135620,
            214139162692369,
        ],
    ]
    goal = [
        0.0015844824709248075,
        -0.6446542495677975,
        1.8724058940653387,
        0.3456906202177172,
        2.112470334904646,
    ]
    counts = np.array([438227.0, 7584.0, 12305.0, 9838.0, 508456.0, 23590.0])
    mechanism = pb.Mechanism(np.array(rows) / 2**53, np.full(5, 0.2))
    found = pb.release.Estimate.from_counts(
        mechanism.inputs, mechanism.channel, counts, mechanism.prior
    )
    low, high = found.of(goal).interval(0.95)
    assert min(goal) <= low < high <= max(goal)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pmlbook.release.intervals.maximise", gave_up)
        assert told(np.eye(2), [11, 1]).interval(0.95).tolist() == [[0.0, 1.0]] * 2


def gave_up(*_, **__):
    raise pb.SolverFailed("it gave up")


def test_levels_as_other_numbers():
    """Decimal was refused with the words that it must be what it was."""
    estimate = told(np.eye(2), [11, 1])
    for confidence in (Decimal("0.9"), Fraction(9, 10), np.float64(0.9)):
        assert (estimate.interval(confidence) == estimate.interval(0.9)).all()
    for confidence in (
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal(1),
        10**400,
        1 - Fraction(1, 10**30),
    ):
        with pytest.raises(ValueError, match="confidence = .* must lie strictly between 0 and 1"):
            estimate.interval(confidence)


def test_a_function_that_fails_names_the_secret():
    """It said: could not convert string to float."""
    for functional in (float, {"yes": 1}.__getitem__, lambda secret: 1 / 0):
        with pytest.raises(ValueError, match="functional fails for the secret 'no': .*Error"):
            PLAIN.estimate(["no", "yes"]).of(functional)
