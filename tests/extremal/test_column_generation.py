"""Column generation: aggregation, the start, the restricted master and its bounds, against other solvers and listing."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from scipy.optimize import linprog

from pmlbook.extremal import column_generation as module
from pmlbook.extremal.column_generation import (
    CIRCLE_ORDERS,
    GroupGeneration,
    GroupMaster,
    Search,
    Task,
    aggregated_mechanism,
    aggregation,
    column_generation,
    dealt_out,
    start_columns,
    vertices_near,
    why_loose,
)
from pmlbook.extremal.enumeration import enumerate_optimum, mixture
from pmlbook.extremal.losses import Groups, circle, joined, near_misses, turns
from pmlbook.foundations.probability import random_prior
from pmlbook.foundations.utility import NAMED
from pmlbook.numerics.linear_programmes import SolverFailed
from pmlbook.numerics.progress import Clock

information = NAMED["mutual_information"]


def test_an_aggregation_keeps_the_ends_apart_and_masses_uneven():
    rng = np.random.default_rng(17)
    for rows, n in ((40, 300), (128, 1000), (200, 3000)):
        distribution = random_prior(n, rng)
        label, alone, order = aggregation(distribution, rows), rows // 10, np.argsort(-distribution)
        sizes, masses = np.bincount(label), np.bincount(label, distribution)
        assert sizes.min() >= 1 and len(sizes) <= rows
        assert sizes[label[np.append(order[:alone], order[-alone:])]].max() == 1
        middle = masses[sizes > 1]  # from light symbols to heavy ones
        assert np.mean(np.diff(middle) > 0) > 0.7 and middle[-1] < 4 / rows


def test_the_programme_and_its_duals_against_another_solver():
    rng = np.random.default_rng(17)
    for trial, level in enumerate((1e-6, 0.05, 0.3, 0.8, 1.6, 2.5)):
        distribution = np.sort(random_prior(9, rng))
        groups = Groups(distribution, level, list(NAMED.values())[trial])
        u = list(NAMED.values())[trial]
        columns, shares = start_columns(groups, np.random.default_rng(0))
        assert len(columns) == CIRCLE_ORDERS * 2 * len(distribution) and np.isclose(
            shares.sum(), 1, rtol=0, atol=1e-13
        )
        assert np.allclose(columns.filled(groups) @ shares, groups.share, rtol=0, atol=1e-12)
        ups, drawn = np.arange(9), np.random.default_rng(0)
        in_turn = [0, 8, 1, 7, 2, 6, 3, 5, 4]  # light and heavy
        orders = [ups, np.array(in_turn), *(drawn.permutation(9) for _ in "12")]
        assert np.array_equal(
            columns.held, joined([circle(groups, order) for order in orders]).held
        )
        lost = [turns(groups, order) @ circle(groups, order).loss(groups) for order in orders]
        assert np.isclose(
            shares @ columns.loss(groups), min(lost), rtol=0, atol=1e-14 * groups.closed
        )
        x = groups.lift(columns.filled(groups), np.arange(9)[:, None])
        back = vertices_near(groups, x)
        assert np.allclose(back.filled(groups), columns.filled(groups), rtol=0, atol=1e-9)
        near = distribution * (
            1 + 0.05 * rng.uniform(-1, 1, 9)
        )  # the same full symbols, where others are as likely
        order, other = np.argsort(near), Groups(near / near.sum(), level, u)
        moved = joined([vertices_near(other, x[:, [k]]) for k in range(len(columns))])
        assert len(vertices_near(other, x)) == len(moved)
        masses = other.width @ moved.held + other.width[moved.taker] * moved.place
        assert len(moved) == len(columns) and np.allclose(
            masses, other.capacity, rtol=0, atol=1e-14
        )
        assert moved.place.min() >= 0 and moved.place.max() <= 1
        assert moved.held.min() >= 0 and moved.held.max() <= 1 == other.size.max()
        assert moved.held[moved.taker, np.arange(len(moved))].max() == 0
        switched = abs(moved.held - (columns.filled(groups)[order] > 0.5)).sum(axis=0)
        assert switched.max() <= 2

        master = GroupMaster(groups)
        some = [columns[:30], columns[30:], near_misses(groups, 8, 20, rng)]
        for more in some:
            master.add(more)
            try:
                loss, duals = master.solve(Clock())
                weights = master.weights
            except SolverFailed:
                assert more is some[0]  # too few to mix
                continue
            filled, losses = master.filled, master.columns.loss(groups)
            scale = losses.max() or 1.0
            other = linprog(losses / scale, None, None, filled, groups.share, method="highs-ipm")
            assert (
                np.isclose(loss, other.fun * scale, rtol=0, atol=1e-7 * scale)
                and weights.min() >= 0
            )
            assert abs(filled @ weights - groups.share).max() < 1e-8 and loss == weights @ losses
            assert np.all(duals @ filled <= losses + 1e-7 * scale)
            assert np.isclose(duals @ groups.share, loss, rtol=0, atol=1e-7 * scale)
            assert master.scale == 1 or loss >= 0.01 * master.scale
        of_circle = columns.filled(groups), columns.loss(groups), shares  # more columns than rows
        assert (shares > 0).sum() > 9 >= dealt_out(groups, *of_circle)[0].shape[1]
        lifts, dealt = dealt_out(groups, filled, losses, weights)
        assert np.allclose(lifts @ dealt, 1, rtol=0, atol=1e-7) and lifts.shape[1] <= 9
        worth = dealt @ u.at_lifts(lifts, lifts - 1, distribution)
        assert np.isclose(worth, groups.closed - loss, rtol=0, atol=1e-7 * scale + 1e-13)


def test_nothing_to_hide_and_no_level():
    for distribution, level in (([0.2, 0.3, 0.5], 0), ([1.0], 2.0)):
        lifts, shares, upper = column_generation(distribution, level, information)
        assert (
            lifts.tolist() == [[1.0]] * len(distribution)
            and shares.tolist() == [1.0]
            and upper == 0
        )


def test_a_loose_bound_says_why():
    for value, bound in ((0.5, 0.75), (0.75, 0.5)):
        message = why_loose("a call", value, bound, 1e-3, "no more time")
        for word in ("a call: ", "0.5", "0.75", "are 0.25 apart", "1e-03", "no more time"):
            assert word in message


def test_aggregated_designs_keep_the_level():
    rng = np.random.default_rng(23)
    distribution = random_prior(30, rng)
    groups = Groups(distribution, 0.8, information)
    bound = groups.closed + groups.rounding
    for rows in (8, 30):
        clock = Clock(None, False)
        task = Task(distribution, 0.8, information, 1e-9)
        lifts, shares, value = aggregated_mechanism(task, rows, clock)
        assert (
            np.allclose(lifts @ shares, 1, rtol=0, atol=1e-9) and lifts.max() <= np.exp(0.8) + 1e-12
        )
        mixed = information(mixture(lifts, distribution, shave=0), distribution)
        assert value - 1e-9 <= mixed <= bound  # a disaggregated one may have a larger value
        assert rows < 30 or mixed <= value + 1e-9


def test_rows_that_are_off_are_refused():
    rng = np.random.default_rng(23)
    groups = Groups(np.sort(random_prior(6, rng)), 0.8, information)
    for factor, good in ((0.9, True), (1.1, False)):
        master = GroupMaster(groups)
        master.add(start_columns(groups, rng)[0])
        off = factor * 1e-8 * (np.arange(6) == 2)  # in one row only
        master.groups = SimpleNamespace(share=groups.share + off)
        try:
            assert master.solve(Clock())[0] > 0 and good
        except SolverFailed as failure:
            assert not good and "rows off by 1e-08" in str(failure)
    try:
        GroupMaster(groups).solve(Clock())
        raise AssertionError("solved without columns")
    except SolverFailed as failure:
        assert "rows off by 1e+00" in str(failure)  # all is missing


rng = np.random.default_rng(12)


prior, information, trace = random_prior(30, rng), NAMED["mutual_information"], []


def settled(p, level):
    """A search by points in the plane alone, at its end."""
    with patch.object(module, "MAX_COMPLETE_GROUPS", 10):
        search = Search(GroupGeneration(Groups(p, level, information), 1e-12, Clock(None, False)))
        search.plane.turn(search.generation)
    assert len(search.numbers) == 1 and search.generation.closed
    return search.generation.groups.closed - search.generation.value


def test_near_ties_are_solved_to_the_end_in_the_plane():
    for n, level in ((30, 0.5), (12, 0.4), (12, 1.0)):
        even = np.sort(1 + 1e-3 * rng.normal(size=n))
        value = settled(even / even.sum(), level)
        if n == 12:
            best = enumerate_optimum(even / even.sum(), level, information)[1]
            assert np.isclose(value, best, rtol=0, atol=1e-11)
