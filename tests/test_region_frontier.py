"""Least leakage and the frontier over a region of priors: kept under all of them, and proved from both sides."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import pmlbook as pb
from pmlbook.numerics.linear_programmes import Infeasible
from pmlbook.numerics.progress import Clock
from pmlbook.practice.estimated_prior import PriorRegion
from pmlbook.practice.region_frontier import RegionBracket, exact_member, proves, region_lift
from pmlbook.practice.robust import keeps_level

ROTATED = [[3, 2, 1], [1, 3, 2], [2, 1, 3]]


def box(rng, n, free=0.0):
    """A random box, and perhaps mass that is free."""
    prior = 0.9 * rng.dirichlet(np.full(n, 3.0)) + 0.1 / n
    width = rng.uniform(0.05, 0.4)
    return PriorRegion(
        prior, (1 - free) * prior * (1 - width), (1 - free) * prior * (1 + width), free
    )


def vertices(region):
    """All priors that are extreme in a box, by trying each secret as the one that is in between."""
    low, high, n = region.low, region.high, len(region.prior)
    found = []
    for open_one in range(n):
        for sides in product((0, 1), repeat=n - 1):
            q = np.insert(
                np.where(sides, np.delete(high, open_one), np.delete(low, open_one)), open_one, 0
            )
            q[open_one] = 1 - region.free - q.sum()
            if low[open_one] - 1e-12 <= q[open_one] <= high[open_one] + 1e-12:
                found += [q + region.free * unit for unit in np.eye(n)] if region.free else [q]
    return np.array(found)


def by_listing(allowed, region):
    """The least level, by bisection over programmes with one row for each extreme prior."""
    n, m = allowed.shape
    priors = vertices(region)

    def fits(limit):
        rows = []
        for j, i, q in product(range(m), range(n), priors):
            row = np.zeros((n, m))
            row[:, j] = -limit * q
            row[i, j] += 1
            rows.append(row.ravel())
        sums = np.kron(np.eye(n), np.ones(m))
        bounds = [(0, None if x else 0) for x in allowed.ravel()]
        return (
            linprog(np.zeros(n * m), rows, np.zeros(len(rows)), sums, np.ones(n), bounds).status
            == 0
        )

    low, high = 1.0, 1e3
    for _ in range(36):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if fits(middle) else (middle, high)
    return np.log(high)


@pytest.mark.parametrize("free", [0.0, 0.1])
def test_against_programmes_over_listed_priors(free):
    rng = np.random.default_rng(5)
    for _ in range(3):
        allowed = rng.random((3, 3)) < 0.6
        allowed[np.arange(3), rng.integers(3, size=3)] = True
        region = box(rng, 3, free)
        design = pb.robust.robust_min_leakage(allowed.astype(float), region, 1.0)
        expected = by_listing(allowed, region)
        assert abs(design.value - expected) < 1e-6 and design.gap < 1e-8


def test_levels_are_kept_exactly_and_bounds_are_below():
    rng = np.random.default_rng(6)
    for k in range(12):
        n, m = int(rng.integers(2, 6)), int(rng.integers(2, 6))
        utilities, region = rng.normal(size=(n, m)).round(2), box(rng, n, 0.05 * (k % 2))
        threshold = float(utilities.max(axis=1).min()) - rng.exponential(0.3)
        design = pb.robust.robust_min_leakage(utilities, region, threshold)
        assert keeps_level(design.mechanism, region, design.value)
        assert design.bound <= design.value < design.bound + 1e-8
        assert not (design.mechanism.channel[utilities < threshold]).any()
        if design.value > 1e-12:
            assert not keeps_level(design.mechanism, region, np.nextafter(design.value, 0))
        assert pb.min_leakage(utilities, region.prior, threshold).bound <= design.value


def test_one_prior_alone_gives_what_the_worst_case_part_gives():
    rng = np.random.default_rng(7)
    for _ in range(2):
        prior = 0.9 * rng.dirichlet(np.ones(4)) + 0.025
        utilities, single = rng.normal(size=(4, 4)).round(2), PriorRegion(prior, prior, prior)
        one = pb.mechanisms.worst_case_frontier(utilities, prior)
        other = pb.robust.robust_frontier(utilities, single)
        assert [step.worst for step in one] == [step.worst for step in other]
        for a, b in zip(one, other):
            assert abs(a.design.value - b.design.value) < 1e-8


def test_the_frontier_rises_and_every_step_is_proved():
    region = pb.robust.box_region([60, 25, 15])
    steps = pb.robust.robust_frontier(ROTATED, region)
    values = [step.design.value for step in steps]
    assert values[0] == 0 and values == sorted(values) and [s.worst for s in steps] == [1, 2, 3]
    for step in steps:
        alone = pb.robust.robust_min_leakage(ROTATED, region, step.worst)
        assert abs(alone.value - step.design.value) < 1e-9 and step.design.gap < 1e-8
        assert keeps_level(step.design.mechanism, region, step.design.value)


def test_proofs_that_prove_nothing_are_refused():
    allowed = np.array([[True, False], [True, True]])
    half = [Fraction(1, 2)] * 2
    assert not proves(Fraction(2), allowed, [Fraction(0)] * 2, [Fraction(1)] * 2, [half, half])
    assert not proves(Fraction(2), allowed, [Fraction(1)] * 2, [Fraction(-1)] * 2, [half, half])
    assert not proves(Fraction(1), allowed, [Fraction(1)] * 2, [Fraction(1)] * 2, [half, half])
    bracket = RegionBracket(allowed, PriorRegion([0.5, 0.5], [0.4, 0.4], [0.6, 0.6]))
    bracket.narrow(Clock(None))
    assert bracket.lift == 1 == bracket.bound


def test_members_are_members():
    rng = np.random.default_rng(8)
    for free in (0.0, 0.2):
        region = box(rng, 4, free)
        for _ in range(20):
            q = exact_member(rng.normal(size=4).tolist(), rng.normal(size=4).tolist(), region)
            assert sum(q) == 1 and min(q) >= 0 and region.contains([float(x) for x in q])


def test_the_largest_lift_is_that_of_the_worst_prior():
    rng = np.random.default_rng(9)
    region = box(rng, 3)
    mechanism = pb.Mechanism(rng.dirichlet(np.ones(4), size=3), region.prior)
    worst = max(
        (mechanism.channel.max(axis=0) / (q @ mechanism.channel)).max() for q in vertices(region)
    )
    assert abs(float(region_lift(mechanism.weights, region)) - worst) < 1e-12


def test_outcomes_that_may_be_as_rare_as_one_likes():
    """A secret with a count of zero can have no outcome of its own."""
    region = pb.robust.box_region([50, 50, 0], zeros="add")
    assert region.low[2] == 0
    with pytest.raises(Infeasible, match="arbitrarily rare"):
        pb.robust.robust_min_leakage(np.eye(3), region, 1.0)
    steps = pb.robust.robust_frontier([[3.0, 1, 0], [1, 3, 0], [0, 2, 3]], region)
    assert steps[-1].worst == 2.0 and np.isfinite(steps[-1].design.value)


def test_names_are_kept_and_strange_arguments_refused():
    names = ["cold", "flu", "rare"]
    region = pb.robust.box_region(pd.Series([60, 25, 15], names))
    table = pd.DataFrame(ROTATED, names, ["home", "ward", "theatre"])
    straight = pb.robust.robust_min_leakage(table, region, 2)
    turned = pb.robust.robust_min_leakage(table.iloc[[2, 0, 1]], region, 2)
    assert straight.mechanism.inputs == tuple(names)
    assert straight.mechanism.outputs == ("home", "ward", "theatre")
    assert straight.mechanism == turned.mechanism
    for wrong in (
        (table, "region", 2),
        (table, region, 4),
        (table, region, 2, "size"),
        (ROTATED[:2], region, 2),
    ):
        with pytest.raises(ValueError):
            pb.robust.robust_min_leakage(*wrong)
    with pytest.raises(ValueError):
        pb.robust.robust_frontier(table.iloc[:2], region)


def test_tiny_probabilities_and_two_secrets():
    tiny = 1e-8
    region = PriorRegion([1 - tiny, tiny], [1 - 2 * tiny, tiny / 2], [1 - tiny / 2, 2 * tiny])
    design = pb.robust.robust_min_leakage(np.eye(2), region, 1.0)
    assert keeps_level(design.mechanism, region, design.value) and design.gap < 1e-6
    assert abs(design.value + np.log(tiny / 2)) < 1e-6


def test_where_floats_give_no_proof_there_is_a_warning():
    tiny = 1e-13
    region = PriorRegion([1 - tiny, tiny], [1 - 2 * tiny, tiny / 2], [1 - tiny / 2, 2 * tiny])
    with pytest.warns(pb.LooseBound):
        design = pb.robust.robust_min_leakage(np.eye(2), region, 1.0)
    assert keeps_level(design.mechanism, region, design.value) and design.bound <= design.value
