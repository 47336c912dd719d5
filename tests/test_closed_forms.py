"""What a formula returns keeps its level, always: extreme priors, all levels, one float to either side of a boundary."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_exactness import keeps

import pmlbook as pb

RARE = [1e-10, 1e-9, 1e-6, 1e-3]  # their shares stay above 1e-12
weights = st.sampled_from(RARE) | st.floats(1e-6, 1) | st.integers(1, 20).map(float)
spread = st.floats(math.log(1e-12), math.log(700)).map(math.exp)


def normal(parts):
    """A prior in the proportions of some weights."""
    p = np.array(parts) / math.fsum(parts)
    p[p.argmax()] += 1 - math.fsum(p)
    return p


@st.composite
def levels(draw, prior):
    """A level anywhere, or on a boundary of the prior's regions, or one float beside it."""
    edges = [
        *pb.extremal.privacy_regions(prior).tolist(),
        pb.foundations.epsilon_max(prior),
        1e-17,
        0.0,
    ]
    edge = draw(st.sampled_from(edges))
    near = [edge, math.nextafter(edge, 0), math.nextafter(edge, 1e3)]
    return draw(st.sampled_from(near) | spread)


def certified(mechanism, level):
    """Whether the mechanism keeps the level, by the library and by this suite's own judge."""
    return mechanism.certify(level) and keeps(mechanism.channel, mechanism.prior, level)


@given(st.data())
def test_binary(data):
    prior = normal(data.draw(st.lists(weights, min_size=2, max_size=2)))
    level = data.draw(levels(prior))
    assert certified(pb.extremal.binary_mechanism(prior, level), level)


@given(st.data())
def test_high_privacy(data):
    prior = normal(data.draw(st.lists(weights, min_size=2, max_size=7)))
    end = pb.extremal.privacy_regions(prior)[1]
    level = data.draw(levels(prior).filter(lambda level: level <= end) | st.just(end + 1e-13))
    assert certified(pb.extremal.high_privacy_mechanism(prior, level), level)


@given(st.data())
def test_uniform(data):
    n = data.draw(st.integers(1, 60))
    level = data.draw(levels(np.full(n, 1 / n)))
    assert certified(pb.extremal.uniform_mechanism(n, level), level)


@given(st.data())
def test_the_one_function_on_extreme_priors(data):
    """Two secrets, or the first region, or equal secrets: a formula answers and its design keeps the level."""
    prior = normal(data.draw(st.lists(weights, min_size=2, max_size=2)))
    level = data.draw(levels(prior))
    design = pb.optimal_mechanism(prior, level, data.draw(st.sampled_from(["hellinger", "le_cam"])))
    assert design.method == "closed_form" and certified(design.mechanism, level)
    assert design.bound > design.value or design.value == 0


def test_a_rare_secret_is_not_published():
    """A share that a solver would take for a zero is none."""
    rare = pb.extremal.binary_mechanism([1 - 1e-12, 1e-12], 25)
    assert rare.channel[0, 1] > 0 and certified(rare, 25)


@pytest.mark.parametrize("n", [2, 5, 10])
def test_what_rounding_costs_is_a_unit_or_two(n):
    """The rounded channel is within n units of the formula, whose numbers are not rounded here."""
    prior, level = np.full(n, 1 / n), 0.5 * math.log(n)
    c = math.exp(level)
    full = int(n / c)
    column = np.sort(pb.extremal.uniform_mechanism(n, level).channel[:, 0])[::-1]
    formula = [c / n] * full + [1 - full * c / n] + [0] * (n - full - 1)
    assert abs(column - formula).max() <= n * 2.0**-52
    strict = pb.extremal.privacy_regions(prior)[1] / 2
    channel = pb.extremal.high_privacy_mechanism(prior, strict).channel
    assert abs(channel[0, 1:] - math.exp(strict) / n).max() <= 2.0**-51


def test_no_level_below_the_units_reveals_anything():
    for mechanism in (
        pb.extremal.uniform_mechanism(3, 1e-17),
        pb.extremal.binary_mechanism([0.7, 0.3], 1e-17),
    ):
        assert (mechanism.channel == mechanism.channel[0]).all() and mechanism.certify(0.0)
