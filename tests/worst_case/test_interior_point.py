"""The search that aims at the lift whose margin is zero, and its dual certificates."""

import numpy as np
import pytest
from allowed_tables import drawn

from pmlbook.foundations.leakage import epsilon_pml
from pmlbook.foundations.probability import random_prior
from pmlbook.numerics.progress import Clock
from pmlbook.worst_case.dual_certificate import coverage, dual_certificate_bound
from pmlbook.worst_case.interior_point import STALLED_GAP, search


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


@pytest.mark.parametrize("rarest", [1e-9, 1e-12])
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
