"""Rare symbols: as one symbol that loses nothing they bound the optimum, and completed they come near that bound."""

import numpy as np

from pmlbook.extremal.column_generation import GroupGeneration, Task, without_rare_symbols
from pmlbook.extremal.losses import LEVEL_FACTOR, Groups
from pmlbook.extremal.rare_symbols import completions, negligible_tails
from pmlbook.foundations.utility import NAMED
from pmlbook.numerics.progress import Clock

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
    while groups.width[few:] @ heavy > groups.capacity:
        heavy[heavy.argmax()] = 0
    found = completions(groups, heavy, few, np.zeros(len(groups.p)), rng)
    full = groups.width @ found.held + groups.width[found.taker] * found.place
    assert len(found) > 10 and abs(full - groups.capacity).max() <= 4 * groups.tolerance
    assert (found.held >= 0).all() and (found.held <= groups.size[:, None]).all()
    other = (found.held[few:] != heavy[:, None]).sum(axis=0)
    assert (other <= 1).all()  # the symbol that takes the rest, or gives it back


def test_sets_of_rare_symbols_bring_the_value_near_the_bound():
    """Aggregated, with their loss added to the bound, the eighteen rarest groups leave more than 1e-4 open."""
    task = Task(uneven(50, 0.1, 4), 4.0, INFORMATION, 1e-9)
    generation = GroupGeneration(task.groups, task.tol, Clock())
    without_rare_symbols(task, generation, 18, Clock())
    value = generation.groups.closed - generation.value
    assert 2.30384 < value < 2.30386 and 0 <= generation.gap < 1e-5 * value
    lifts, shares = generation.lifts()
    assert abs(lifts @ shares - 1).max() < 1e-9 and lifts.max() <= np.exp(4.0 * LEVEL_FACTOR)
    assert abs(shares @ INFORMATION.columns(lifts, task.prior) - value) < 1e-9
