"""Rare symbols: as one symbol that loses nothing they bound the optimum, and completed they come near that bound."""

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.foundations.utility import NAMED
from pmlbook.large_alphabets.losses import Groups
from pmlbook.large_alphabets.rare_symbols import completions, negligible_tails

INFORMATION = NAMED["mutual_information"]


def uneven(n, width, seed):
    """Shares drawn from Dirichlet's distribution, none below 1e-9."""
    shares = np.maximum(np.random.default_rng(seed).dirichlet(np.full(n, width)), 1e-9)
    return shares / shares.sum()


def test_a_tail_may_vanish_together():
    """All of a tail has one chord only if the symbol that it becomes can vanish and can have the largest lift."""
    for level in (1e-6, 0.1, 1.0, 4.0):
        for seed in range(5):
            groups = Groups(uneven(40, 0.1, seed), level, INFORMATION)
            for few in negligible_tails(groups):
                mass = groups.size[:few] @ groups.p[:few]
                assert mass < groups.a and mass < groups.rest


def test_completions_are_vertices():
    groups = Groups(uneven(30, 0.3, 2), 2.0, INFORMATION)
    few, rng = 12, np.random.default_rng(0)
    heavy = np.zeros(len(groups.p) - few, dtype=np.int64)
    heavy[: len(heavy) // 3] = 1
    while groups.width[few:] @ heavy > groups.room:
        heavy[heavy.argmax()] = 0
    found = completions(groups, heavy, few, np.zeros(len(groups.p)), rng)
    full = groups.width @ found.held + groups.width[found.taker] * found.place
    assert len(found) > 10 and abs(full - groups.room).max() <= 4 * groups.same
    assert (found.held >= 0).all() and (found.held <= groups.size[:, None]).all()
    other = (found.held[few:] != heavy[:, None]).sum(axis=0)
    assert (other <= 1).all()  # the symbol that takes the rest, or gives it back


@pytest.mark.parametrize("seed", [1, 4])
def test_very_uneven_priors_end_near_the_bound(seed, monkeypatch):
    """Gaps of 6e-6 and more stayed where a tail of 1e-5 was aggregated and its loss added to the bound."""
    from time import process_time

    from pmlbook.numerics import progress

    monkeypatch.setattr(progress, "perf_counter", process_time)
    design = pb.optimal_mechanism(uneven(40, 0.1, seed), 4.0, max_time=6)
    assert design.mechanism.certify(4.0) and 0 <= design.gap < 3e-6 * design.value
