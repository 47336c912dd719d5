"""Capacity: directions, blur and searches that break down."""

import warnings
from unittest.mock import Mock, patch

import numpy as np
import pytest

from pmlbook.foundations import capacity as module
from pmlbook.foundations.capacity import (
    _direction,
    _Point,
    _room,
    blur_of,
    channel_capacity,
    divergences,
    newton_step,
)
from pmlbook.foundations.probability import random_channel, random_prior
from pmlbook.workshop.linear_programmes import LooseBound


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
        assert _room(_Point(p, slack), _Point(p, slack)) == 1  # nothing falls
        assert _room(_Point(p, slack), _Point(-4 * p, -2 * slack)) == 0.25
        assert np.isclose(blur_of(channel, 3.0), 2 * blur_of(channel, 1.0), rtol=1e-15, atol=0)


def test_the_blur_of_a_channel():
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
        assert _room(_Point(p, slack), _Point(p, slack)) == 1  # nothing falls
        assert _room(_Point(p, slack), _Point(-4 * p, -2 * slack)) == 0.25
        assert np.isclose(blur_of(channel, 3.0), 2 * blur_of(channel, 1.0), rtol=1e-15, atol=0)
    assert blur_of(np.ones((1, 1000)), 0.0) < 2.0**-52 * 2100  # two units an outcome
    assert blur_of(channel[None], 3.0) == blur_of(channel, 3.0)


def test_a_search_that_breaks_down_keeps_its_bounds():
    channel, one, found = [[1, 0], [0.5, 0.5], [0.4, 0.6]], np.ones(3), []
    for step in (  # one that fails, and four that lead where no step begins
        Mock(side_effect=np.linalg.LinAlgError),
        Mock(return_value=_Point(np.array([0.5, 0.5, np.nan]), one)),
        Mock(return_value=_Point(one / 3, np.array([1, np.nan, 1]))),
        Mock(return_value=_Point(np.array([0.5, 0.5, 0]), one)),
        Mock(return_value=_Point(np.array([-0.5, 1, 0.5]), one)),
    ):
        with patch.dict(vars(module), newton_step=step), pytest.warns(LooseBound):
            found.append(channel_capacity(channel))
    best = channel_capacity(channel)
    for early in found:
        assert early.value < best.value <= best.bound < early.bound
        assert early.prior.tolist() == [1 / 3] * 3


def test_accuracies_that_are_asked():
    rng = np.random.default_rng(11)
    with warnings.catch_warnings(action="error"):
        rough = channel_capacity(random_channel(30, 30, rng), 0.05)
        assert 1e-6 < rough.gap <= 0.06 * rough.bound
        sharp = channel_capacity(random_channel(30, 30, rng), 0.0)
        assert sharp.gap < 1e-12
