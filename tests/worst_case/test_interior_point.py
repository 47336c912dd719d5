"""The search that aims at the lift whose margin is zero, and its dual certificates."""

import numpy as np
import pytest
from allowed_tables import drawn

from pmlbook.foundations.leakage import epsilon_pml
from pmlbook.foundations.probability import random_prior
from pmlbook.numerics.progress import Clock
from pmlbook.worst_case.dual_certificate import coverage, dual_certificate_bound
from pmlbook.worst_case.interior_point import STALLED_GAP, Visit, _next_lift, rounded, search
from pmlbook.worst_case.margin import AllowedPairs


def test_outputs_without_use_are_left_out():
    prior, mask = np.array([0.5, 0.5]), np.ones((2, 2), dtype=bool)
    pairs = AllowedPairs(mask, prior)
    flow = np.array([1 - 1e-9, 1.0, 1e-9, 0.0])  # the second output occurs once in a billion
    channel, largest = rounded(pairs, flow, 1.0)
    assert channel.tolist() == [[1, 0], [1, 0]] and largest == 1
    flow = np.array([1.0, 0.0, 0.0, 1.0])  # nothing can be left out
    channel, largest = rounded(pairs, flow, 1.5)
    assert channel.tolist() == [[1, 0], [0, 1]] and largest == 2


def test_the_next_lift_is_in_the_bracket():
    visit = Visit(2.0, -0.1, 2.1, 3.0)
    aim = 1 / (0.5 - 0.1)
    assert abs(_next_lift(visit, 1.0, [visit]) - (aim - 0.1 * (aim - 2))) < 1e-12
    assert _next_lift(visit, 0.2, [visit]) == 2.1  # the aim is not below zero: back to the end
    near = Visit(2.0, -1e-4, 2.0, 3.0)
    step = 1 / (0.5 - 1e-4) - 2
    assert abs(_next_lift(near, 1.0, [near]) - (2 + step - step**2 / 2)) < 1e-12
    above = Visit(2.5, 0.1, 2.1, 3.0)  # 2.5 is possible
    assert 2.1 < _next_lift(above, 4.0, [above]) < 1 / 0.425
    stuck = Visit(2.1, 0.0, 2.1, 3.0)
    assert abs(_next_lift(stuck, 1.0, [stuck]) - 2.1) < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_both_ends_meet_where_the_coverage_is_one(seed):
    rng = np.random.default_rng([40, seed])
    for _ in range(12):
        mask, prior = drawn(rng, 9)
        channel, dual, visits = search(mask, prior)
        lower = dual_certificate_bound(mask, prior, dual)
        upper = np.exp(epsilon_pml(channel, prior))
        assert not channel[~mask].any() and lower * (1 - 1e-12) <= upper
        assert upper <= lower * (1 + 2 * STALLED_GAP) and all(v.lift >= 1 - 1e-12 for v in visits)
        certain = max(
            dual_certificate_bound(mask, prior, someone) for someone in np.eye(len(prior))
        )
        assert not visits or abs(visits[0].lift / certain - 1) < 1e-12
        assert len(visits) < 15
        assert coverage(mask, prior, upper * (1 + 1e-6)).share > 1 - 1e-9
        assert upper < 1 + 1e-6 or coverage(mask, prior, upper * (1 - 1e-4)).share < 1 - 1e-9


def test_hundreds_of_pairs_and_no_vertex():
    """A table too large for a simplex method at the end: the ends meet without it, in a second or two."""
    rng = np.random.default_rng(5)
    mask = rng.random((90, 90)) < 0.6
    mask[np.arange(90), rng.integers(90, size=90)] = True
    prior = random_prior(90, rng)
    channel, dual, visits = search(mask, prior)
    assert 2 < len(visits) < 15 and visits[-1].gap < STALLED_GAP
    lower, upper = dual_certificate_bound(mask, prior, dual), np.exp(epsilon_pml(channel, prior))
    assert lower * (1 - 1e-12) <= upper <= lower * (1 + 2 * STALLED_GAP)


@pytest.mark.parametrize("rarest", [1e-9, 1e-30, 1e-120])
def test_rare_secrets_in_floats(rarest):
    """Dual variables are scaled by the prior, so that a rare secret is no smaller than another."""
    rng = np.random.default_rng(6)
    for _ in range(10):
        mask, prior = drawn(rng)
        prior[rng.integers(len(prior))] = rarest
        prior /= prior.sum()
        _, _, visits = search(mask, prior)
        assert not visits or visits[-1].gap < STALLED_GAP


def test_without_time_the_ends_are_those_of_the_start():
    rng = np.random.default_rng(7)
    mask, prior = drawn(rng)
    channel, dual, visits = search(mask, prior, Clock(0))
    assert visits == [] and np.allclose(
        channel, mask / mask.sum(axis=1, keepdims=True), rtol=0, atol=1e-15
    )
    assert sorted(dual)[-1] == 1
