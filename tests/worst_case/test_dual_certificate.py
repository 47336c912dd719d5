"""Dual certificates of coverage: their bounds, proposals and steps."""

from fractions import Fraction

import numpy as np

from pmlbook.worst_case.dual_certificate import (
    coverage,
    dual_certificate_bound,
    normalised,
)
from pmlbook.worst_case.problem import allowed_by_rank


def by_scan(mask, p, r):
    """One over the largest a with G_j(a) >= a, in fractions: G_j - a is straight between sums of p."""
    places = [Fraction(0)]
    for inside in mask.T:
        order = sorted(np.flatnonzero(inside), key=lambda i: -r[i] / p[i])
        a, left = Fraction(0), Fraction(0)  # left: G_j(a) - a
        for i in order:
            share = min(Fraction(1), left / (p[i] - r[i])) if r[i] < p[i] else Fraction(1)
            a, left = a + share * p[i], left + share * (r[i] - p[i])
        places.append(a)
    return 1 / max(places) if max(places) else np.inf


def test_bounds_by_definition():
    draw = np.random.default_rng(12)
    for trial in range(60):
        n, m = draw.integers(1, 6, size=2)
        mask = draw.random((n, m)) < 0.6
        if trial % 4:
            mask[np.arange(n), draw.integers(m, size=n)] = True
        people, bets = draw.integers(1, 30, n), draw.integers(0, 4, n) + np.eye(n, dtype=int)[0]
        p, r = (
            np.array([Fraction(int(k), int(some.sum())) for k in some]) for some in (people, bets)
        )
        exact = dual_certificate_bound(mask, p, r)
        assert exact == by_scan(mask, p, r)
        floats, sure = p.astype(float), r.astype(float)
        assert trial % 4 == 0 or dual_certificate_bound(mask, floats, sure) <= float(exact) * (
            1 + 1e-12
        )


def test_the_slope_of_coverage():
    prior, cyclic = np.array([0.6, 0.25, 0.15]), np.array([[3, 2, 1], [1, 3, 2], [2, 1, 3]])
    table = allowed_by_rank(cyclic, 2)
    for lift in (1.4, 1.5, 1.9):  # where coverage climbs straight
        below, now, above = (coverage(table, prior, lift + h) for h in (-0.01, 0.0, 0.01))
        rise = (above.share - below.share) / 0.02
        assert abs(now.slope - rise) < 1e-5 and above.share > now.share > below.share > 0.5


def test_flows_are_normalised():
    distribution = np.array([0.5, 0.3, 0.2])
    flow = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1e-17], [3.0, -1e-9, 0.0]])
    rows, largest = normalised(flow, distribution)
    assert (
        rows.tolist() == [[0.5, 0.5, 0], [0, 1, 0], [1, 0, 0]] and abs(largest - 1 / 0.45) < 1e-15
    )
    assert normalised(flow * [[1], [0], [1]], distribution)[1] == np.inf
