"""The bounds on worst-case information hold to the last digit: against sixty digits, and formulas."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import pmlbook as pb
from pmlbook.hamming.information_barrier import lower_bound, proven_bound
from pmlbook.hamming.mutual_information import worst_case_information

mp = mpmath.mp.clone()
mp.dps = 60


def shares(distribution):
    """A row in sixty digits, relative to its exact sum."""
    exact = [Fraction(p) for p in distribution]
    return [
        mp.mpf(p.numerator) / p.denominator / mp.mpf(1) for p in (e / sum(exact) for e in exact)
    ]


def information(channel, distribution):
    """Mutual information, in sixty digits."""
    rows = [shares(row) for row in channel.tolist()]
    out = [mp.fdot(distribution, column) for column in zip(*rows)]
    return mp.fsum(
        p * w * mp.log(w / y)
        for p, row in zip(distribution, rows)
        for w, y in zip(row, out)
        if w and p
    )


def rate(m, distortion):
    """The rate-distortion function of m equal symbols: ln m - h(D) - D ln(m - 1)."""
    d = mp.mpf(distortion)
    return mp.log(m) + d * mp.log(d) + (1 - d) * mp.log(1 - d) - d * mp.log(m - 1)


@pytest.mark.parametrize("m", range(2, 9))
def test_equal_symbols(m):
    """With the best dual variable the bound is the formula; in floats it was above it about once in two."""
    rng, above = np.random.default_rng(m), 0
    for distortion in (rng.random(30) * (m - 1) / m).tolist():
        distribution = np.full((1, m), 1 / m)
        dual = math.log((m - 1) * (1 - distortion) / distortion)
        truth = rate(m, distortion)
        floats = lower_bound(distribution, distortion, np.ones(1), np.array([dual]))
        bound = proven_bound(distribution, distortion, np.ones(1), np.array([dual]))
        assert truth - mp.mpf(2) ** -50 <= bound <= truth
        above += floats > truth
        design = pb.mi_leakage(distribution, distortion)
        assert design.bound <= truth <= design.value <= truth + 1e-9
    assert above


def random_case(seed):
    """A source of one distribution, or of several, uneven ones too, and a distortion."""
    rng = np.random.default_rng([9, seed])
    m, k = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    distributions = rng.dirichlet(np.full(m, rng.choice([0.3, 1, 5])), k) + 1e-12
    distributions *= 10.0 ** -rng.integers(0, 6, (k, m)) if seed % 3 == 0 else 1
    return distributions / distributions.sum(axis=1, keepdims=True), float(
        10.0 ** rng.uniform(-6, -0.2)
    )


@pytest.mark.parametrize("seed", range(60))
def test_between_bound_and_value_lies_what_the_channel_tells(seed):
    distributions, distortion = random_case(seed)
    design = pb.mi_leakage(distributions, distortion)
    told = [
        information(design.mechanism.channel, shares(distribution))
        for distribution in distributions.tolist()
    ]
    assert max(told) <= design.value
    worst = information(design.mechanism.channel, shares(design.distribution.tolist()))
    assert (
        design.bound <= worst <= design.value if len(distributions) == 1 else worst <= design.value
    )
    low, high, worst = worst_case_information(distributions, design.mechanism.channel)
    assert max(told) <= high and low <= design.value
    if len(distributions) == 1:
        assert low <= told[0] <= high


@pytest.mark.parametrize("seed", range(40))
def test_no_dual_variables_prove_more_than_a_valid_channel_tells(seed):
    """Any weights and dual variables; the channel is one that keeps the distortion exactly."""
    rng = np.random.default_rng([10, seed])
    distributions, distortion = random_case(seed)
    design = pb.dp_leakage(distributions, distortion)
    weights = rng.dirichlet(np.ones(len(distributions)))
    duals = rng.exponential(3, len(distributions))
    duals *= 10.0 ** rng.integers(-20, 3)
    bound = proven_bound(distributions, distortion, weights, duals)
    mixed = [
        mp.fdot(shares(weights.tolist()), column)
        for column in zip(*map(shares, distributions.tolist()))
    ]
    assert bound <= information(design.mechanism.channel, mixed)
    assert abs(bound - lower_bound(distributions, distortion, weights, duals)) <= 1e-13 * (
        1 + duals.sum()
    )


def test_dual_variables_beyond_floats_prove_something_or_nothing():
    distributions = np.array([[1 - 1e-300, 1e-300]])
    for dual in (0.0, 5e-324, 1e-300, 1e300):
        bound = proven_bound(distributions, 0.25, np.ones(1), np.array([dual]))
        assert bound <= 0
    assert proven_bound(np.array([[0.5, 0.5]]), 0.0, np.ones(1), np.array([1e300])) <= math.log(2)


@pytest.mark.parametrize("m", [2, 3, 5])
def test_publishing_in_the_clear(m):
    design = pb.mi_leakage(np.eye(m), 0)
    assert design.bound <= mp.log(m) <= design.value <= design.bound + 1e-9
