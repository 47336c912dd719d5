"""Frontiers over regions of priors, on regions whose vertices can be listed."""

from fractions import Fraction
from itertools import product

import numpy as np

from pmlbook.numerics.progress import Clock
from pmlbook.practice.estimated_prior import PriorRegion
from pmlbook.practice.region_frontier import (
    RegionBracket,
    _Programmes,
    exact_member,
    proves,
    region_lift,
    robust_min_leakage,
)
from pmlbook.practice.robust import keeps_level
from pmlbook.release.mechanism import Mechanism
from pmlbook.worst_case.min_leakage import min_leakage_of_mask

MIDDLE = np.array([0.5, 0.25, 0.25])
REGIONS = [
    PriorRegion(MIDDLE, [0.375, 0.125, 0.1875], [0.625, 0.375, 0.375]),
    PriorRegion(MIDDLE, MIDDLE, MIDDLE),  # one prior
    PriorRegion(MIDDLE, [0.5, 0.125, 0.25], [0.5, 0.375, 0.25], 0.0625),
    PriorRegion(MIDDLE, [0.25, 0, 0], [1, 0.5, 0.5]),  # touches 0
    PriorRegion([0.5, 0.5], [0.25, 0.25], [0.75, 0.75]),
    PriorRegion([2.0**-27, 1 - 2.0**-27], [2.0**-28, 0], [1, 1], 0.0),
]


def vertices_of(region):
    """All vertices of a region, in fractions: bound parts at their limits but for one, and the free mass at one place."""
    n, free = len(region.prior), Fraction(region.free)
    low, high = (list(map(Fraction, limit.tolist())) for limit in (region.low, region.high))
    for choice in product(*zip(low, high)):
        for i, k in product(range(n), repeat=2):
            q = list(choice)
            q[i] = 1 - free - sum(q[:i]) - sum(q[i + 1 :])
            if low[i] <= q[i] <= high[i]:
                yield [x + free * (j == k) for j, x in enumerate(q)]


def test_the_largest_lift_is_found():
    draw = np.random.default_rng(26)
    for region in REGIONS:
        n, vertices = len(region.prior), list(vertices_of(region))
        for trial in range(8):
            channel = draw.dirichlet(np.ones(3), n) * (draw.random((n, 3)) < 0.7 + trial % 2)
            channel[:, 0] += 1 - channel.sum(axis=1)
            weights = Mechanism(channel, region.prior).weights
            lifts = []
            for column in weights.T.tolist():
                least = min(sum(q * w for q, w in zip(vertex, column)) for vertex in vertices)
                if max(column):
                    lifts.append(max(column) / least if least else None)
            assert region_lift(weights, region) == (None if None in lifts else max(lifts))
            near, spread = draw.normal(0.3, 0.5, n).tolist(), draw.normal(0.2, 0.5, n).tolist()
            member = exact_member(near, spread, region)
            low, high = (list(map(Fraction, limit.tolist())) for limit in (region.low, region.high))
            assert sum(member) == 1 and all(a <= x for a, x in zip(low, member))
            assert sum(min(x, b) for x, b in zip(member, high)) >= 1 - Fraction(region.free)
        for vertex in vertices:  # what is there stays
            place = next((k for k in range(n) if vertex[k] - Fraction(region.free) >= low[k]), 0)
            part = [float(x) - region.free * (k == place) for k, x in enumerate(vertex)]
            if not region.free:
                assert exact_member(part, np.eye(n)[place].tolist(), region) == vertex


def test_a_narrow_region_is_bounded():
    shares = np.array([0.0012, 0.8561, 0.1427])
    for width in (1e-12, 1e-10):  # the solver once took the first for unbounded
        region = PriorRegion(shares, shares * (1 - width), shares * (1 + width))
        design = robust_min_leakage([[-2, -3, 4, 10], [18, 10, -6, -2], [10, 3, 8, -1]], region, 8)
        assert design.gap < 1e-6 and keeps_level(design.mechanism, region, design.value)


def test_what_a_dual_certificate_proves():
    even, one = np.eye(2, dtype=bool), [Fraction(1)] * 2
    for gap, holds in ((Fraction(1, 10**40), True), (Fraction(0), False), (Fraction(-1), False)):
        limit, worst = 4 - gap, [[Fraction(1, 4), Fraction(3, 4)], [Fraction(3, 4), Fraction(1, 4)]]
        shadow = [1 - limit / 4] * 2
        assert proves(limit, even, shadow, one, worst) is holds
        assert not proves(limit, even, [u + Fraction(1, 10**60) for u in shadow], one, worst)
        assert not proves(limit, even, [-u for u in shadow], [-x for x in one], worst)


def test_programmes_against_listing():
    even, half = np.eye(2, dtype=bool), REGIONS[4]
    for region, mask in (
        (half, even),
        (REGIONS[0], np.eye(3, dtype=bool)),
        (REGIONS[2], np.eye(3, dtype=bool)),
    ):
        programmes = _Programmes(mask, region)
        least = float(1 / min(map(min, vertices_of(region))))
        missed = [
            -programmes.at(limit, Clock(60)).value
            for limit in (0.5 * least, 0.9 * least, least, 2 * least)
        ]
        bracket = RegionBracket(mask, region)
        found = programmes.at(0.9 * least, Clock(60))
        ahead = 0.9 * least + bracket._missing(found)
        assert missed[0] > missed[1] > 0.01 and abs(missed[2]) < 1e-9 > abs(missed[3])
        assert 0.9 * least < ahead <= least * (1 + 1e-9)  # aims from below
        assert bracket.take_proof(0.9 * least, found) and bracket.bound == Fraction(0.9 * least)
        assert not bracket.take_proof(1.1 * least, programmes.at(1.1 * least, Clock(60)))


def test_brackets_hold_the_least_level():
    draw = np.random.default_rng(26)
    half = REGIONS[4]
    for region in (*REGIONS[:3], half):
        n = len(region.prior)
        for _ in range(2):
            mask = (draw.random((n, 4)) < 0.5) | np.eye(n, 4, dtype=bool)
            bracket = RegionBracket(mask, region)
            bracket.narrow(Clock(progress=False))
            design = bracket.design()
            # the order is proved; how near the search comes, where the solver takes near limits for one, is not
            assert 1 <= bracket.bound <= bracket.lift <= bracket.bound * (1 + Fraction(1e-7))
            assert (
                keeps_level(design.mechanism, region, design.value)
                and not design.mechanism.weights[~mask].any()
            )
            for vertex in list(vertices_of(region))[:3]:  # a single prior is no harder
                if min(vertex):
                    assert (
                        min_leakage_of_mask(mask, np.array(vertex, dtype=float))[2]
                        <= design.value + 1e-12
                    )
