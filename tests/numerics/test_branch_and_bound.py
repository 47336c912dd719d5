"""The search loop: what it counts, when it stops and how it is run on."""

from dataclasses import dataclass

import numpy as np
import pytest

from pmlbook.numerics.branch_and_bound import Batch, BranchAndBound, Nodes, Relaxation
from pmlbook.numerics.progress import Clock


@dataclass(frozen=True)
class Intervals(Nodes):
    low: np.ndarray
    high: np.ndarray


class Tent(Relaxation[Intervals]):
    """1 - |x - 1/3| on intervals, bounded by its largest value plus a part of the length."""

    def __init__(self, loose=1.0, rounding=0.0, least=0.0):
        self.loose, self.rounding, self.least = loose, rounding, least
        self.branched = []

    def bounded(self, low, high):
        near = np.clip(1 / 3, low, high)
        bound = 1 - np.abs(near - 1 / 3) + self.loose * (high - low) + self.rounding
        return Intervals(bound, low, high)

    def root(self):
        return self.bounded(np.zeros(1), np.ones(1))

    def branch(self, nodes, clock):
        self.branched.append(len(nodes))
        at = (nodes.low + nodes.high) / 2
        ends = np.concatenate([nodes.low, at]), np.concatenate([at, nodes.high])
        return self.bounded(*ends)

    def reducible(self, nodes):
        return nodes.bound - self.rounding

    def branchable(self, nodes):
        return nodes.high - nodes.low > self.least

    def improve(self, children, incumbent, clock):
        middle = (children.low + children.high) / 2
        return max(incumbent, float(1 - np.abs(middle - 1 / 3).min()))


class Told(Clock):
    def __init__(self, *rest):
        super().__init__(*rest)
        self.brackets = []

    def tell(self, value, bound):
        self.brackets.append((value, bound))


@pytest.mark.parametrize("batch", [Batch(), Batch(4, 4, 32), Batch(2, 1, 3)])
def test_brackets_narrow_until_the_tolerance(batch):
    clock, tent = Told(), Tent()
    search = BranchAndBound(tent, tent.root(), -np.inf, 1e-4, batch=batch)
    assert search.run(clock) == "closed"
    assert search.nodes == 1 + 2 * sum(tent.branched) and max(tent.branched) <= batch.most
    told = np.array(clock.brackets)
    assert (np.diff(told[:, 0]) >= 0).all() and (np.diff(told[:, 1]) <= 0).all()
    assert search.incumbent <= 1 <= search.bound <= search.incumbent + 1e-4
    assert clock.brackets[-1] == (search.incumbent, search.bound)


def test_each_reason_to_stop_and_running_on():
    tent = Tent()
    search = BranchAndBound(tent, tent.root(), -np.inf, 1e-6)
    assert search.run(Clock(0)) == "time" and search.nodes == 1 and search.bound == 2
    assert search.run(Clock(), most_nodes=5) == "nodes" and search.nodes == 5
    assert search.run(Clock(), most_open=0) == "open nodes" and search.nodes == 5
    assert search.run(Clock()) == "closed" and search.run(Clock(0), 0, 0) == "closed"


def test_what_rounding_has_added_is_not_branched():
    tent = Tent(rounding=1e-3)
    search = BranchAndBound(tent, tent.root(), 1.0, 1e-4)
    assert search.run(Clock()) == "rounding"
    assert 1 + 1e-3 <= search.bound <= 1 + 1e-3 + 1e-4
    coarse = Tent(least=0.1)
    search = BranchAndBound(coarse, coarse.root(), 1.0, 1e-4)
    assert search.run(Clock()) == "rounding" and 1.05 < search.bound < 1.1


def test_a_ceiling_and_a_high_incumbent_end_it():
    tent = Tent()
    assert BranchAndBound(tent, tent.root(), 2.0).run(Clock()) == "closed" and not tent.branched
    search = BranchAndBound(tent, tent.root(), 1.0, 0.1, ceiling=1.05)
    assert search.run(Clock()) == "closed" and search.bound == 1.05 and not tent.branched


def test_children_are_never_above_their_parents():
    tent = Tent()
    nodes = Intervals(np.array([0.5, 3.0]), np.zeros(2), np.ones(2))
    children = tent.children(nodes, Clock())
    assert children.bound.tolist() == [0.5, 1.5, 0.5, 1.5 - 1 / 6]


def test_large_blocks_are_kept_apart_and_the_largest_comes_first():
    tent = Tent()
    search = BranchAndBound(tent, tent.root(), 1.0, 1e-3, batch=Batch(2, 2, 2))
    bounds = []
    while search.run(Clock(), search.nodes + 1) == "nodes":
        bounds.append(search.bound)
    assert (np.diff(bounds) <= 0).all() and 1 <= search.bound <= 1 + 1e-3
