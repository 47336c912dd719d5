"""Capacity: directions, blur and searches that break down."""

import warnings
from unittest.mock import Mock

import numpy as np
import pytest

from pmlbook.foundations import capacity as module
from pmlbook.foundations.capacity import (
    _direction,
    _Point,
    blur_of,
    channel_capacity,
    divergences,
    newton_step,
)
from pmlbook.foundations.probability import random_channel, random_prior
from pmlbook.numerics.linear_programmes import LooseBound


def test_directions_solve_the_linearised_equations():
    rng = np.random.default_rng(5)
    for n, m in ((1, 2), (2, 2), (3, 5), (6, 4)):
        channel, p, slack, goal = (
            random_channel(n, m, rng),
            random_prior(n, rng),
            *rng.random((2, n)),
        )
        curvature, divergence = channel / (p @ channel) @ channel.T, divergences(channel, p)
        move, change = _direction(curvature, divergence, _Point(p, slack), goal)
        assert abs(move.sum()) < 1e-12 * (1 + abs(move).sum())
        assert np.allclose(slack * move + p * change, goal - p * slack, rtol=0, atol=1e-9)
        moved = divergence - curvature @ move
        assert np.ptp(slack + change + moved) < 1e-9  # all are measured from one level
        step = 1e-6 * (random_prior(n, rng) - p)
        slope = divergences(channel, p + step) - divergences(channel, p - step)
        assert np.allclose(slope, -2 * curvature @ step, rtol=0, atol=1e-13)
        at = newton_step(channel, _Point(p, slack))
        assert min(at.prior) > 0 < min(at.slack) and abs(at.prior.sum() - 1) < 1e-15
        assert np.isclose(blur_of(channel, 3.0), 2 * blur_of(channel, 1.0), rtol=1e-15, atol=0)


def test_the_blur_of_a_channel():
    channel = random_channel(6, 4, np.random.default_rng(5))
    assert blur_of(np.ones((1, 1000)), 0.0) < 2.0**-52 * 2100  # two units an outcome
    assert blur_of(channel[None], 3.0) == blur_of(channel, 3.0)


def test_a_search_that_breaks_down_keeps_its_bounds(monkeypatch):
    channel = [[1, 0], [0.5, 0.5], [0.4, 0.6]]
    best, broken = channel_capacity(channel), Mock(side_effect=np.linalg.LinAlgError)
    monkeypatch.setattr(module, "newton_step", broken)
    with pytest.warns(LooseBound, match="the exact number lies between$"):
        early = channel_capacity(channel)
    assert early.value < best.value <= best.bound < early.bound
    assert early.prior.tolist() == [1 / 3] * 3


@pytest.mark.parametrize("prior, slack", [([0.5, np.nan], [1, 1]), ([0.5, 0.5], [np.nan, 1])])
def test_a_step_that_leads_nowhere_says_so(prior, slack):
    with pytest.raises(np.linalg.LinAlgError):
        newton_step(np.eye(2), _Point(np.array(prior), np.array(slack)))


def test_accuracies_that_are_asked():
    rng = np.random.default_rng(11)
    with warnings.catch_warnings(action="error"):
        rough = channel_capacity(random_channel(30, 30, rng), 0.05)
        assert 1e-6 < rough.gap <= 0.06 * rough.bound
        sharp = channel_capacity(random_channel(30, 30, rng), 0.0)
        assert sharp.gap < 1e-12
