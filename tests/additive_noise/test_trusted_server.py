"""One record behind a trusted server: levels by enumeration in fractions, and scales that are the least."""

import math
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest

from pmlbook.additive_noise import (
    count_scale,
    geometric_noise,
    histogram_scale,
    record_leakage_of_count,
    record_leakage_of_histogram,
)


def after(prior, n, moves):
    """Distribution of what n independent records add up to; `moves`: what each answer adds, a tuple."""
    found = {(0,) * len(moves[0]): Fraction(1)}
    for _ in range(n):
        step = {}
        for total, chance in found.items():
            for share, move in zip(prior, moves):
                place = tuple(a + b for a, b in zip(total, move))
                step[place] = step.get(place, 0) + chance * share
        found = step
    return found


def largest_lift(prior, n, moves, ratio, equal=1):
    """Of an answer that `equal` of n records share, over all outcomes with geometric noise: beyond them none is larger."""
    others, best = after(prior, n - equal, moves), 0
    power = [ratio**k for k in range(2 * n + 6)]
    for outcome in product(range(-1, n + 2), repeat=len(moves[0])):
        given = [
            sum(
                chance
                * math.prod(power[abs(t - o - equal * m)] for t, o, m in zip(outcome, other, move))
                for other, chance in others.items()
            )
            for move in moves
        ]
        best = max(best, max(given) / sum(share * one for share, one in zip(prior, given)))
    return best


def a_prior(seed, answers):
    weights = [int(w) for w in np.random.default_rng(seed).integers(1, 30, answers)]
    return [Fraction(w, sum(weights)) for w in weights]


CELLS = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


@pytest.mark.parametrize("n, equal", [(2, 1), (3, 1), (5, 1), (3, 2), (4, 3)])
def test_the_level_of_a_histogram_by_enumeration(n, equal):
    prior, ratio = a_prior(n, 3), Fraction(2, 5)
    lift = largest_lift(prior, n, CELLS, ratio, equal)
    scale = 1 / (equal * -math.log(ratio))  # equal records divide the noise
    assert lift == 1 / (min(prior) + (1 - min(prior)) * ratio ** (2 * equal))
    assert record_leakage_of_histogram(prior, scale) == pytest.approx(math.log(lift), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_level_of_a_count_by_enumeration(n):
    prior, ratio = a_prior(10 + n, 3), Fraction(1, 3)
    lift = largest_lift(prior, n, [(1,), (0,), (0,)], ratio)  # the property is the first answer
    level = record_leakage_of_count(prior[0], 1 / math.log(3))
    assert level == pytest.approx(math.log(lift), rel=1e-12)


def test_scales_are_the_least_that_keep_a_level():
    for share in (1e-12, 1e-3, 0.2, 0.5):
        most = -math.log(share)
        for epsilon in (1e-6, 0.1, 1.0, most * (1 - 1e-9)):
            histogram, count = (
                partial(record_leakage_of_histogram, [share, 1 - share]),
                partial(record_leakage_of_count, share),
            )
            scales = histogram_scale([share, 1 - share], epsilon), count_scale(share, epsilon)
            for scale, level in zip(scales, (histogram, count)):
                if epsilon >= most:
                    assert scale == 0
                    continue
                assert 0 < level(scale) <= epsilon
                assert level(scale * (1 - 1e-6)) > epsilon or epsilon > most * (1 - 1e-6)


def test_geometric_noise_has_its_distribution():
    for scale in (0.05, 0.7, 40.0):
        drawn, z = geometric_noise(scale, 4000, rng=3), math.exp(-1 / scale)
        variance = 2 * z / (1 - z) ** 2
        assert abs(drawn.mean()) < 5 * math.sqrt(variance / 4000)
        share = (1 - z) / (1 + z)  # of zeros
        assert abs((drawn == 0).mean() - share) < 5 * math.sqrt(share * (1 - share) / 4000) + 1e-12
        size = 2 * z / (1 - z * z)
        assert abs(abs(drawn).mean() - size) < 5 * math.sqrt(variance / 4000)
