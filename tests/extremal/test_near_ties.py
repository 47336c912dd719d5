"""Nearly equal shares: however little time there is, a mechanism near the best closed form, and never none."""

import tracemalloc

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.extremal import column_generation as module
from pmlbook.extremal.losses import Groups, circle, closed_bound, turns
from pmlbook.extremal.randomized_response import randomized_response_for_pml
from pmlbook.extremal.ungrouping import reduced
from pmlbook.foundations.leakage import epsilon_max
from pmlbook.foundations.utility import NAMED

INFORMATION = NAMED["mutual_information"]


def nearly_equal(n, spread, seed=0):
    """Equal shares that differ by a part of `spread` of themselves."""
    prior = abs(1 + spread * np.random.default_rng(seed).normal(size=n))
    return prior / prior.sum()


@pytest.mark.parametrize("n, spread, level", [(60, 1e-3, 0.5), (135, 0.1, 2.0), (150, 1e-3, 5.0)])
def test_no_time_at_all_is_enough_for_a_start(n, spread, level):
    """A search cut off in its first programme used to end with the value 0 and an infinite gap."""
    prior = nearly_equal(n, spread)
    design = pb.optimal_mechanism(prior, level, max_time=0)
    assert design.mechanism.certify(level) and len(design.mechanism.outputs) <= n
    equal = pb.optimal_mechanism(np.full(n, 1 / n), level).value  # by formula
    assert design.value > 0.99 * equal and design.bound >= design.value


def test_a_solver_that_fails_at_once_costs_the_optimum_not_the_mechanism(monkeypatch):
    def fails(self, clock):
        raise module.SolverFailed("out of order")

    monkeypatch.setattr(module.GroupMaster, "solve", fails)
    prior = nearly_equal(60, 0.01)
    with pytest.warns(pb.LooseBound, match="out of order"):
        design = pb.optimal_mechanism(prior, 1.0)
    assert design.mechanism.certify(1.0) and design.value > 0.97 * closed_bound(
        prior, 1.0, INFORMATION
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_start_is_never_below_randomized_response(seed):
    rng = np.random.default_rng(seed)
    n, utility = int(rng.integers(3, 50)), list(NAMED.values())[seed % 6]
    prior = np.maximum(np.sort(rng.dirichlet(np.full(n, [0.1, 1, 10, 1e4][seed % 4]))), 1e-8)
    prior /= prior.sum()
    level = rng.uniform(0.01, 1) * epsilon_max(prior)
    groups = Groups(prior, level, utility)
    columns, shares = module.start_columns(groups, rng)
    value = groups.closed - shares @ columns.loss(groups)
    assert value >= utility(randomized_response_for_pml(prior, level), prior) - 1e-12


@pytest.mark.parametrize("n", [3, 7, 50])
@pytest.mark.parametrize("tied", [False, True])
def test_columns_that_depend_on_each_other_are_dropped_at_no_loss(n, tied):
    rng = np.random.default_rng(n)
    prior = np.sort(rng.integers(1, 4, size=n) if tied else rng.random(n)) * 1.0
    groups = Groups(prior / prior.sum(), rng.uniform(0.2, 2), INFORMATION)
    order = rng.permutation(n)
    columns, shares = circle(groups, order), turns(groups, order)
    filled, loss = columns.filled(groups), columns.loss(groups)
    few = reduced(filled, loss, shares)
    assert few.min() >= 0 and (few > 0).sum() <= len(groups.p)
    assert abs(filled @ few - groups.share).max() < 1e-12 and loss @ few <= loss @ shares + 1e-14


def test_near_ties_take_less_than_half_a_gigabyte():
    tracemalloc.start()
    pb.optimal_mechanism(nearly_equal(100, 1e-3), 0.1, max_time=1.5)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 400e6


@pytest.mark.parametrize("n, spread, level", [(20, 1e-2, 0.3), (40, 1e-3, 0.5), (40, 1e-6, 2.0)])
@pytest.mark.parametrize("name", ["mutual_information", "chi_square", "hellinger"])
def test_nearly_equal_shares_are_solved_to_the_end(n, spread, level, name):
    """Of choices with one number of full symbols the best is a vertex; gaps of 1e-5 and more used to stay."""
    design = pb.optimal_mechanism(nearly_equal(n, spread), level, name)
    assert design.gap <= 1e-8 * design.value and design.mechanism.certify(level)


@pytest.mark.parametrize("seed", range(3))
def test_a_search_that_has_no_time_for_near_ties_returns_a_mechanism(seed):
    shares = 1 + 2e-5 * np.random.default_rng(seed).random(700)
    design = pb.optimal_mechanism(shares / shares.sum(), 1.77, "total_variation", max_time=0.02)
    assert design.mechanism.certify(1.77) and design.gap < 1e-3 * design.value
