"""Envelopes: against all sets of outcomes, against linear programmes, and at the edges."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

import pmlbook as pb
from pmlbook.beyond.envelope import MergedTail
from pmlbook.release.certificate import exp_below

envelope_of = pb.measures.leakage_envelope
SEEDS = range(25)


def random_mechanism(seed):
    """A mechanism with zeros and rare outcomes, some secrets rare."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 8))
    rows = rng.random((n, m)) * 2.0 ** -rng.choice([0, 0, 5, 40, 2000], (n, m))
    rows[:, 0] += 2.0**-10
    prior = rng.dirichlet(np.ones(n)) * (1 - 1e-7 * n) + 1e-7
    return pb.Mechanism(rows / rows.sum(axis=1, keepdims=True), prior / prior.sum())


@pytest.mark.parametrize("seed", SEEDS)
def test_all_sets_of_stored_outcomes(seed):
    """From the whole numbers that are stored, without lifts and without merging equal columns."""
    made = random_mechanism(seed)
    envelope, units = envelope_of(made), made.weights.sum(axis=1)[0]
    for chosen in product([0, 1], repeat=made.weights.shape[1]):
        rows = [
            Fraction(int(sum(w * c for w, c in zip(row, chosen))), int(units))
            for row in made.weights.tolist()
        ]
        size = sum(p * v for p, v in zip(made.exact_prior, rows))
        if size:
            assert max(rows) <= size * envelope.lift(size)
    for x in range(len(made.inputs)):
        line = envelope.vertices(x)
        slopes = [(q - b) / (p - a) for (a, b), (p, q) in zip(line, line[1:])]
        assert line[0] == (0, 0) and line[-1] == (1, 1) and slopes == sorted(slopes, reverse=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_curve_falls_from_the_level_to_zero(seed):
    made = random_mechanism(seed)
    envelope = envelope_of(made)
    grid = [0, 1e-8, Fraction(1, 7), 0.3, 0.5, 0.9, 1]
    levels = [envelope.level(p) for p in grid]
    assert levels == sorted(levels, reverse=True) and levels[0] == made.epsilon and levels[-1] == 0
    assert all(envelope.lift(p) * Fraction(p) <= 1 for p in grid)
    assert levels == [pb.measures.leakage_distribution(made).event_level(p) for p in grid]


@pytest.mark.parametrize("seed", SEEDS)
def test_tail_against_another_programme(seed):
    """The primal by HiGHS from the floats; value and bound in fractions close it in."""
    made = random_mechanism(seed)
    envelope, n = envelope_of(made), len(made.inputs)
    shares, m = made.prior @ made.channel, made.channel.shape[1]
    for level in (0.0, 0.2, 0.9 * made.epsilon, made.epsilon):
        tail = envelope.merged_tail(level)
        assert 0 <= tail.value <= tail.bound <= 1 and tail.bound - tail.value <= Fraction(1, 10**9)
        assert envelope.leakage.tail(level) <= tail.bound
        for x, event in enumerate(tail.events):
            assert all(0 <= part <= 1 for part in event)
            size = sum(p * e for p, e in zip(envelope.leakage.probabilities, event))
            power = sum(
                p * e * v[x]
                for p, e, v in zip(envelope.leakage.probabilities, event, envelope.leakage.lifts)
            )
            assert power >= exp_below(level) * size
        if level == 0.2 and made.epsilon > 0.21:
            keep = np.zeros((n, n * m))
            for x in range(n):
                keep[x, x * m : (x + 1) * m] = math.exp(level) * shares - made.channel[x]
            able = (made.channel > math.exp(level) * shares).any(axis=1)
            bounds = [(0, 1 if able[x] else 0) for x in range(n) for _ in range(m)]
            limits = np.vstack([np.tile(np.eye(m), n), keep]), np.append(np.ones(m), np.zeros(n))
            found = linprog(-np.tile(shares, n), *limits, bounds=bounds)
            assert -found.fun == pytest.approx(float(tail.bound), abs=1e-6)


def test_the_tail_is_gone_at_the_level_and_all_below_it_for_a_uniform_prior():
    made = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
    envelope = envelope_of(made)
    assert envelope.merged_tail(made.epsilon)[:2] == (0, 0)
    assert envelope.merged_tail(0.4)[:2] == (1, 1)


def test_the_certain_outcome_and_the_only_secret():
    for made in (
        pb.Mechanism([[1], [1]], [0.5, 0.5]),
        pb.Mechanism([[0.5, 0.5]], [1]),
        pb.Mechanism([[1]], [1]),
    ):
        envelope = envelope_of(made)
        assert envelope.lift(0) == envelope.lift(0.3) == 1 and envelope.merged_tail(0)[:2] == (0, 0)
        assert envelope.vertices(0) == [(0, 0), (1, 1)]


def test_publishing():
    made = pb.Mechanism(np.eye(2), [1 - 1e-8, 1e-8])
    envelope, rare = envelope_of(made), made.exact_prior[1]
    assert envelope.lift(rare) == 1 / rare and envelope.lift(2 * rare) == 1 / (2 * rare)
    tail = envelope.merged_tail(1.0)
    assert (
        tail.value <= 1 / exp_below(1.0) <= tail.bound
    )  # a third of all reports point to one in 10^8
    assert tail.bound - tail.value <= Fraction(1, 10**9)


def test_several_releases():
    made = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
    twice = envelope_of(pb.budget.compose(made, made))
    assert twice.level(0) == pb.budget.compose(made, made).epsilon
    assert twice.lift(Fraction(5, 16)) == Fraction(9, 5) and twice.lift(1) == 1


def test_bad_input():
    with pytest.raises(ValueError, match="release must be a Mechanism"):
        envelope_of([[1]])
    envelope = envelope_of(pb.Mechanism([[1]], [1]))
    for bad in (-0.1, 1.1, math.nan, "x"):
        with pytest.raises(ValueError, match="probability"):
            envelope.lift(bad)
    with pytest.raises(ValueError, match="epsilon"):
        envelope.merged_tail(-1)


def test_thousands_of_digits_can_be_shown():
    small = Fraction(1, 3**10_000)
    assert repr(MergedTail(small, 1 - small, ())) == "MergedTail(value = 0, bound = 1)"


@pytest.mark.parametrize("rare", [1e-8, 1e-12, 1e-300])
@pytest.mark.parametrize("level", [0, 0.1, 0.5])
def test_a_secret_however_rare_has_a_tail_that_is_known(rare, level):
    """One outcome names the rare secret. The second one dilutes it first, and the third if there is need."""
    made = pb.Mechanism([[0.8, 0.2, 0], [0, 0.8, 0.2]], [rare, 1 - rare])
    tail = envelope_of(made).merged_tail(level)
    assert 0 <= tail.bound - tail.value <= Fraction(1, 10**9)
    known = math.exp(-level) if level < math.log(1.25) else 0.8 / (math.exp(level) - 0.25)
    assert float(tail.value) == pytest.approx(known, abs=1e-6)


def test_lifts_that_differ_from_one_by_rounding_only():
    """The stored rows make a mean of 2 / 7 off by a unit, which the programme does not see."""
    rows = np.array([[7, 0, 28], [10, 10, 15], [5, 20, 10]]) / 35
    made = pb.Mechanism(rows, [Fraction(7, 18), Fraction(4, 18), Fraction(7, 18)])
    tail = envelope_of(made).merged_tail(0)
    assert 1 - Fraction(1, 10**9) < tail.value <= tail.bound <= 1


def test_outcomes_with_one_lift_of_a_secret_are_one_edge():
    made = pb.Mechanism(
        [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]], [0.5, 0.25, 0.25]
    )
    assert len(envelope_of(made).leakage.lifts) == 3
    assert envelope_of(made).vertices(0) == [(0, 0), (Fraction(3, 8), Fraction(1, 2)), (1, 1)]


def test_a_place_that_is_none_and_a_leakage_that_is_none():
    envelope = envelope_of(pb.Mechanism([[1], [1]], [0.5, 0.5]))
    for bad in (-1, 2, 0.0, "a", None):
        with pytest.raises(ValueError, match="secret"):
            envelope.vertices(bad)
    with pytest.raises(ValueError, match="leakage must be a LeakageDistribution, got a int"):
        pb.measures.LeakageEnvelope(3)


def test_what_is_shown_of_a_tail_lies_around_it():
    near = Fraction(3**80 - 1, 3**80)
    assert repr(MergedTail(near, Fraction(1), ())) == "MergedTail(value = 0.999999999, bound = 1)"
