"""Dual certificates of coverage: their bounds, proposals and steps."""

from fractions import Fraction

import numpy as np

from pmlbook.foundations.leakage import epsilon_pml
from pmlbook.foundations.probability import random_prior
from pmlbook.worst_case.dual_certificate import (
    CLOSE,
    Coverage,
    _next_lift,
    coverage,
    dual_certificate_bound,
    normalised,
    proposals,
    search_dual,
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


def test_every_proposal_is_a_distribution():
    rng_2, cut = np.random.default_rng(8), 0
    for _ in range(30):
        mask, p = (rng_2.random((4, 4)) < 0.5) | np.eye(4, dtype=bool), random_prior(4, rng_2)
        last, now = (coverage(mask, p, t / (p @ mask).max()) for t in (1.0 + 1e-9, 1.2))
        duals, flows = proposals(last, now, 3 * now.lift)
        assert len(duals) == len(flows) == 7 and duals[0] is now.dual and flows[0] is now.flow
        assert all(abs(dual.sum() - 1) < 1e-15 * 4 and dual.min() >= 0 for dual in duals)
        cut += (duals[1] == 0).sum() > (now.dual == 0).sum()
        assert [len(some) for some in proposals(None, now, 3.0)] == [1, 1]
        assert [len(some) for some in proposals(last, now, np.inf)] == [1, 1]
    assert cut > 3


def test_bounds_and_flows_by_definition():
    draw, counts = np.random.default_rng(12), []
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
        if not mask.any(axis=1).all():
            continue
        channel, dual, visits = search_dual(mask, floats)
        lower, upper = (
            dual_certificate_bound(mask, floats, dual),
            np.exp(epsilon_pml(channel, floats)),
        )
        assert not channel[~mask].any() and lower * (1 - 1e-12) <= upper <= lower * (1 + 2 * CLOSE)
        assert all(v.lift >= 1 - 1e-12 for v in visits)
        certain = max(dual_certificate_bound(mask, floats, someone) for someone in np.eye(n))
        assert abs(visits[0].lift / certain - 1) < 1e-12  # it begins where the best of these ends
        counts.append(len(visits))
        now = visits[len(visits) // 2]
        assert abs(now.dual.sum() - 1) < 1e-12 and not now.flow[~mask].any()
        assert (now.flow.sum(axis=1) >= now.share - 1e-7).all()


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
    far = (
        Coverage(1.0, 0.5, 1.0, distribution, flow),
        Coverage(1.5, 0.75, 1.0, distribution[::-1], 2 * flow),
    )
    assert [len(part) for part in proposals(None, far[1], 2.0)] == [1, 1]
    assert [len(part) for part in proposals(*far, np.nan)] == [1, 1]
    duals, flows = proposals(*far, 2.0)
    assert (duals[0] == distribution[::-1]).all() and (flows[0] == 2 * flow).all()
    for short, other in zip((0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9), flows[1:]):
        assert abs(other - (2 * flow + (1 - 4 * short) * flow)).max() < 1e-14


def test_steps_stay_in_the_bracket():
    distribution = np.array([0.5, 0.3, 0.2])
    flow = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1e-17], [3.0, -1e-9, 0.0]])
    far = (
        Coverage(1.0, 0.5, 1.0, distribution, flow),
        Coverage(1.5, 0.75, 1.0, distribution[::-1], 2 * flow),
    )
    duals, flows = proposals(*far, 2.0)
    assert all(abs(r.sum() - 1) < 1e-15 and r.min() >= 0 for r in duals)
    now, jumps = far[1], np.array([1.2, 1.7, 1.8, 1.9, 3.0])
    assert (
        1.95 <= _next_lift(now, 2.0, 1.2, 2.5, jumps) < 2.0
    )  # short by a tenth of the step at most
    assert (
        _next_lift(now, 2.0, 1.99, 2.5, jumps) == 1.99
        and _next_lift(now, 3.0, 1.5, 2.5, jumps) == 2.0
    )
    assert _next_lift(now, 1.5 + 1e-9, 1.2, 2.5, jumps) <= (1.5 + 1e-9) * (1 - 0.9e-7)
    assert (
        _next_lift(now, np.nan, 1.5, 2.5, jumps) == 1.8
        and _next_lift(now, np.nan, 1.75, 1.85, jumps) == 1.8
    )
    # short by as large a part of the step as the step is of the lift, 0.03 / 1.5
    assert abs(_next_lift(now, 1.53, 1.2, 2.5, jumps) - (1.53 - 0.03 / 50)) < 1e-12
    assert _next_lift(now, np.nan, 1.8, 1.9, jumps) == 1.8  # neither end is inside
    assert _next_lift(now, np.nan, 1.4, 1.45, jumps) == 1.4
    assert _next_lift(now, np.nan, 1.5, 1.6, jumps) == 1.55
