"""Bridges to other libraries: the same numbers by formulas of their own, by qif and dit, and an audit of OpenDP."""

from fractions import Fraction

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.foundations.adversaries import gain_advantage
from pmlbook.foundations.probability import random_channel, random_prior

FIRST = np.array([[0.75, 0.25, 0], [0.5, 0.25, 0.25], [0, 0.125, 0.875]])


def problems(count, seed):
    """Random priors, channels and gains."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, m, actions = rng.integers(2, 7, size=3)
        yield random_prior(n, rng), random_channel(n, m, rng), rng.random((n, actions))


def exactly(prior, channel, gain):
    """What the best actions earn after the outcomes, summed in fractions over strategies."""
    p, c, g = (np.vectorize(Fraction, otypes=[object])(part) for part in (prior, channel, gain))
    n, m = c.shape
    return float(
        sum(
            max(sum(p[x] * c[x, y] * g[x, a] for x in range(n)) for a in range(g.shape[1]))
            for y in range(m)
        )
    )


def average_advantage(channel, prior, gain):
    """The growth of the best expected gain, on average over the outcomes: g-leakage."""
    channel = channel[:, channel.any(axis=0)]
    return np.log(np.exp(gain_advantage(channel, prior, gain)) @ (prior @ channel))


def test_against_fractions():
    for prior, channel, gain in problems(25, 1):
        told = average_advantage(channel, prior, gain)
        assert abs(told - np.log(exactly(prior, channel, gain) / (prior @ gain).max())) < 1e-12
        assert told <= pb.maximal_leakage(channel) + 1e-12


def test_qif_says_the_same():
    qif = pytest.importorskip("qif")
    for prior, channel, gain in problems(50, 2):
        table = np.ascontiguousarray(gain.T)
        after = qif.measure.g_vuln.posterior(table, prior, channel)
        told = np.log(after / qif.measure.g_vuln.prior(table, prior))
        assert abs(average_advantage(channel, prior, gain) - told) < 1e-12
        bits = qif.measure.bayes_vuln.min_entropy_leakage(prior, channel)
        guess = average_advantage(channel, prior, np.eye(len(prior)))
        assert abs(guess - bits * np.log(2)) < 1e-12
        capacity = qif.measure.bayes_vuln.mult_capacity(channel)
        assert abs(pb.maximal_leakage(channel) - np.log(capacity)) < 1e-12


def test_dit_says_the_same():
    dit = pytest.importorskip("dit")
    for prior, channel, _ in problems(10, 3):
        table = prior[:, None] * channel
        cells = [(x, y) for x, y in np.ndindex(table.shape) if table[x, y] > 0]
        distribution = dit.Distribution(
            [(str(x), str(y)) for x, y in cells], [table[cell] for cell in cells]
        )
        bits = dit.shannon.mutual_information(distribution, [0], [1])
        assert abs(pb.foundations.mutual_information(channel, prior) - bits * np.log(2)) < 1e-12


def test_a_measurement_of_opendp_lies_between_the_limits():
    """Discrete Laplace noise on whole numbers, cut at the ends, is the geometric mechanism."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    measurement = dp.m.make_laplace(*space, scale=1.0)
    prior = [0.6, 0.3, 0.1]
    tried = pb.audit.audit_leakage(
        lambda value: min(max(measurement(value), 0), 2), prior, range(3), 4000, 0.9999
    )
    exact = pb.audit.audit_leakage(pb.foundations.geometric(3, 1.0), prior)
    assert (tried.low <= exact.low).all() and (exact.high <= tried.high).all()
    assert tried.level[1] - tried.level[0] < 0.5


def test_the_distribution_of_the_geometric_mechanism_is_that_noise_cut_at_the_ends():
    """The chapter's statement about OpenDP's noise, from its formula: P(z) = (1 - a) / (1 + a) a^|z|, a = e^(-1 / scale)."""
    a, z = np.exp(-1.0), np.arange(-60, 61)
    noise = (1 - a) / (1 + a) * a ** abs(z)
    rows = [np.bincount(np.clip(z + x, 0, 2), noise, 3) for x in range(3)]
    assert np.allclose(rows, pb.foundations.geometric(3, 1.0), rtol=0, atol=1e-12)
