"""Capacities of channels with two inputs, against a fine grid."""

import numpy as np
from scipy.special import entr

from pmlbook.foundations.classic import binary_symmetric, geometric
from pmlbook.numerics.progress import Clock
from pmlbook.records.certain_adversaries import capacities, flat_part
from pmlbook.records.classes import record_problem
from pmlbook.records.queries import counting


class Asked(Clock):
    """Counts its calls."""

    times = 0

    @property
    def over(self):
        self.times += 1
        return False


def test_capacities_are_enclosed():
    rng = np.random.default_rng(8)
    asked = Asked()
    capacities(np.array([binary_symmetric(0.2)]), clock=asked)
    assert asked.times == 0  # done at first sight
    distributions = np.linspace(0, 1, 2001)[:, None] * [1, -1] + [0, 1]
    rows = rng.dirichlet(np.ones(3), size=(40, 2))
    grid = [
        entr(distributions @ two).sum(axis=1) - distributions @ entr(two).sum(axis=1)
        for two in rows
    ]
    reached = np.max(grid, axis=1)
    found, low, high = capacities(rows)
    best = int(reached.argmax())
    assert (
        (low <= reached + 1e-6).all() and (reached <= high).all() and high[best] - low[best] < 1e-13
    )
    assert abs(found[best] - distributions[grid[best].argmax()]).max() < 1e-3
    even, first, above = capacities(rows, clock=Clock(0))
    assert (even == 0.5).all() and np.allclose(first, [g[1000] for g in grid], rtol=0, atol=1e-14)
    assert (reached <= above).all()


def test_who_cannot_be_the_largest_stays():
    rng = np.random.default_rng(8)
    rows = rng.dirichlet(np.ones(3), size=(40, 2))
    even, first, above = capacities(rows, clock=Clock(0))
    for floor in (0.0, first.max() + 1e-3):
        stays = above > max(floor, first.max()) + 1e-12  # at first sight it may be the best
        assert stays.any() and ((capacities(rows, floor)[0] == 0.5).all(axis=1) == ~stays).all()


def test_no_time_no_answer():
    problem = record_problem(counting(4), geometric(5, 1.0), 0)
    assert flat_part(problem, Clock(0)) is None
