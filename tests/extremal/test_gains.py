"""Gains: entries at a limit, and what does not average to one."""

import numpy as np
import pytest

from pmlbook.extremal.gains import SNAP_DISTANCE, gain_mixture, gain_programme
from pmlbook.foundations.probability import random_prior
from pmlbook.numerics.linear_programmes import SolverFailed


def test_entries_at_a_limit_are_exactly_there():
    rng = np.random.default_rng(13)
    for n in (3, 5, 8):
        p, table, c = random_prior(n, rng), rng.normal(size=(n, 3)), 1.4
        lifts = gain_programme(p, c, table - p @ table)[0]  # no action is best without a word
        assert np.all((lifts == 0) | (lifts > SNAP_DISTANCE * c)) and lifts.max() == c
        assert np.all((lifts == c) | (lifts < (1 - SNAP_DISTANCE) * c))
        for shave in (0.0, 2.0**-20):
            lower = gain_mixture(lifts, p, shave)
            moved = lower / (p @ lower)
            assert np.allclose(lower.sum(axis=1), 1, rtol=0, atol=1e-15)
            assert np.array_equal(moved == 0, lifts == 0) and abs(moved - lifts).max() < 1e-4
            assert np.allclose(moved[lifts == c], c * (1 - shave), rtol=0, atol=1e-12)
            assert moved.max() < c * (1 - shave) + 1e-12


def test_a_merged_column_has_entries_between():
    rng = np.random.default_rng(13)
    p, table = random_prior(8, rng), rng.normal(size=(8, 3))
    lifts = gain_programme(p, 1.4, table - p @ table)[0]  # all actions earn nothing under the prior
    assert np.any((0 < lifts) & (lifts < 1.4))


def test_a_mixture_that_does_not_average_to_one_is_refused():
    with pytest.raises(SolverFailed):
        gain_mixture(np.array([[1.0], [0.0]]), np.array([1 - 1e-9, 1e-9]), 0.0)
