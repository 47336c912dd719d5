"""A level is never exceeded, not by 1e-15: judged here in integers, apart from the library's own certificate."""

import math

import mpmath
import numpy as np
import pytest

import pmlbook as pb
from pmlbook.foundations.probability import random_prior
from pmlbook.foundations.utility import NAMED


def integers(numbers):
    """Integers in the proportions of these floats, exactly."""
    pairs = [float(number).as_integer_ratio() for number in numbers]
    common = math.lcm(*(bottom for _, bottom in pairs))
    return [top * (common // bottom) for top, bottom in pairs]


def keeps(channel, prior, epsilon):
    """Whether p(y|x) <= e^epsilon P(y) for every pair, with e^epsilon rounded down at 60 digits."""
    with mpmath.workdps(60):
        c = int(mpmath.floor(mpmath.exp(mpmath.mpf(epsilon)) * mpmath.mpf(10) ** 50))
    rows, weights = [integers(row) for row in channel], integers(prior)
    sums = [sum(row) for row in rows]
    scale, total = math.lcm(*sums), sum(weights)
    rows = [[entry * (scale // size) for entry in row] for row, size in zip(rows, sums)]
    averages = [sum(w * entry for w, entry in zip(weights, column)) for column in zip(*rows)]
    return all(
        entry * total * 10**50 <= c * average
        for row in rows
        for entry, average in zip(row, averages)
    )


RNG = np.random.default_rng(500)
GAINS = ["gain", *NAMED]


def random_design(n):
    """A prior, a level on or off the boundaries, and the optimum for a random utility."""
    prior = random_prior(n, RNG)
    edges = pb.extremal.privacy_regions(prior)
    epsilon = RNG.choice(
        [RNG.choice(edges), RNG.uniform(0, 1.1) * pb.foundations.epsilon_max(prior)]
    )
    name = RNG.choice(GAINS)
    utility = pb.foundations.ExpectedGain(RNG.normal(size=(n, 3))) if name == "gain" else str(name)
    return pb.optimal_mechanism(prior, epsilon, utility), epsilon


@pytest.mark.parametrize("block", range(10))
def test_five_hundred_designs_keep_their_level(block):
    for _ in range(50):
        design, epsilon = random_design(int(RNG.integers(2, 9)))
        mechanism = design.mechanism
        assert keeps(mechanism.channel, mechanism.prior, epsilon)
        assert mechanism.channel.shape[1] <= len(mechanism.prior)


def test_this_judge_can_say_no():
    """Randomized response at its level, and the same channel with one entry raised by 1e-15."""
    prior, channel = np.array([0.5, 0.5]), np.array([[0.75, 0.25], [0.25, 0.75]])
    assert keeps(channel, prior, math.log(1.5) + 1e-15)
    raised = channel + np.array([[1e-15, -1e-15], [0, 0]])
    assert not keeps(raised, prior, math.log(1.5))
