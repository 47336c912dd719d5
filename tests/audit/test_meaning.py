"""Levels in words: odds, and sentences that are kept to the last digit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from oracles import exp_from_below

import pmlbook as pb
from pmlbook.audit.choosing_epsilon import belief_range, largest_odds, level_for, odds_level

SLACK = Fraction(1, 10**45)


def is_largest(level, factor):
    """Whether e^level is at most `factor` and e^(the float above) is not, by a series of fractions."""
    above = math.nextafter(level, math.inf)
    return exp_from_below(level) <= factor and exp_from_below(above) + SLACK > factor


def odds(event, distribution):
    """Odds of an event, the chance of each secret to count, under weights of the secrets."""
    for_it = sum(e * w for e, w in zip(event, distribution))
    return for_it / (sum(distribution) - for_it)


def test_odds_stay_within_the_factor():
    """Exact odds of random events, with and without dice, after every outcome of a mechanism."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        n = int(rng.integers(2, 5))
        counts = rng.integers(1, 30, size=n)
        prior, factor = counts / counts.sum(), Fraction(int(rng.integers(9, 40)), 8)
        level = odds_level(prior, float(factor))
        made = pb.Mechanism(rng.dirichlet(np.full(3, 0.3), size=n), prior).within(level)
        shares = [Fraction(p) for p in made.prior.tolist()]
        for column in made.weights.T.tolist():
            distribution = [p * k for p, k in zip(shares, column)]
            for event in [*np.eye(n, dtype=int), *rng.integers(1, 5, size=(4, n))]:
                event = [Fraction(int(k), max(1, int(max(event)))) for k in event]
                if any(column) and 0 < sum(e * p for e, p in zip(event, shares)) < sum(shares):
                    before, after = odds(event, shares), odds(event, distribution)
                    assert after <= factor * before * (1 + Fraction(1, 10**14))


def test_odds_level_is_reached():
    """All others at the largest lift: then the odds against the rarest grow by the factor."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        prior, factor = rng.dirichlet(np.ones(4)), rng.uniform(1, 5)
        common = 1 - prior.min()
        level = odds_level(prior, factor)
        assert math.isclose(
            largest_odds(common / prior.min(), level), factor * common / prior.min(), rel_tol=1e-8
        )
        exact = min(Fraction(p) / sum(map(Fraction, prior.tolist())) for p in prior.tolist())
        assert math.isclose(
            level, -math.log1p(-float((1 - 1 / Fraction(factor)) * exact)), rel_tol=1e-14
        )


def test_no_level_keeps_odds_for_all_events():
    """Odds of three to two grow 61 times at half a nat, and likelier events are proved."""
    assert 61 < largest_odds(1.5, 0.5) / 1.5 < 62
    for level in (1e-6, 0.01, 0.5):
        likely = math.exp(-level)
        assert largest_odds(likely / (1 - likely) * (1 + 1e-6), level) == math.inf


def test_odds_at_the_ends():
    assert odds_level([0.6, 0.3, 0.1], 1) == 0 and odds_level([1.0], 2) == math.inf
    assert math.isclose(odds_level([0.6, 0.3, 0.1], 2), -math.log1p(-0.05), rel_tol=1e-14)
    assert math.isclose(odds_level([0.6, 0.3, 0.1], math.inf), -math.log1p(-0.1), rel_tol=1e-14)
    assert odds_level([0.5, 0.5], np.float32(2)) == odds_level([0.5, 0.5], Fraction(2))


def test_levels_of_sentences_are_rounded_down():
    rng = np.random.default_rng(3)
    for _ in range(200):
        before, after = np.sort(rng.random(2) * 10.0 ** -rng.integers(0, 5, size=2))
        assert is_largest(level_for(before, after), Fraction(after) / Fraction(before))
    assert level_for(0.5, 0.5) == 0 and level_for(5e-324, 1) < 744.5
    assert np.exp(level_for(0.25, 0.5)) * 0.25 <= 0.5


@pytest.mark.parametrize("factor", [0.5, -1, math.nan, "2", None, 1j, np.complex64(2)])
def test_bad_factor(factor):
    with pytest.raises(ValueError, match="factor = .* must be a number of at least 1"):
        odds_level([0.5, 0.5], factor)


def test_the_odds_of_fractions_are_those_of_the_fractions():
    """Through floats the level could be one float off the largest that keeps the factor."""
    for k in range(3, 60):
        prior = [Fraction(k - 1, k), Fraction(1, k)]
        assert is_largest(odds_level(prior, 2), 1 / (1 - prior[1] / 2))


def test_rare_beliefs_at_large_levels():
    """Where e^epsilon is no float, and where odds are so large that one plus them is not more."""
    for q, level in (
        (1e-305, 740.0),
        (1e-305, 705.0),
        (5e-324, 744.0),
        (1e-310, 800.0),
        (0.0, 900.0),
    ):
        true = (
            min(1.0, math.exp(math.log(q) + level))
            if q and math.log(q) + level < 0
            else float(q > 0)
        )
        assert belief_range(q, level)[1] == pytest.approx(true, rel=1e-9)
        odds = largest_odds(q, level)
        assert odds == (pytest.approx(true / (1 - true), rel=1e-9) if true < 1 else math.inf)
    for odds in (3e15, 5e15, 1e16, 1e300):
        assert largest_odds(odds, 0.0) == odds
    assert largest_odds(1e16, 1e-17) == pytest.approx(1e16 / 0.9)


def test_names_are_read_as_they_are():
    """Two names that differ in blanks, one with a line break, one with quotes."""
    prior = {"a b": 0.9, "a  b": 0.05, "two\nlines": 0.03, "it's": 0.02}
    for name, share in prior.items():
        said = pb.audit.sentence_level(f"  '{name}'  is never \n ruled out. ", prior)
        assert said == pytest.approx(-math.log1p(-share), abs=1e-12)
    assert len(pb.audit.explain(prior, 0.1)) == 3 + 2 + 1 + 2 * len(prior)
    with pytest.raises(ValueError, match="names 'a   b'"):
        pb.audit.sentence_level("'a   b' is never ruled out", prior)
