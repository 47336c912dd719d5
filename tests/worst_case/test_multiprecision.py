"""Rare secrets in fractions."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np

from pmlbook.numerics.enclosure import as_decimal, as_fractions
from pmlbook.numerics.progress import Clock
from pmlbook.worst_case.multiprecision import (
    STORED_RESOLUTION,
    _secant_root,
    cover,
    decimal_entries,
    earnings,
    filled,
    search_precisely,
)


def test_columns_have_their_mean():
    draw = np.random.default_rng(14)
    for trial in range(30):
        n = int(draw.integers(1, 6))
        people, order = draw.integers(1, 9, n), draw.permutation(n).tolist()
        shares = [Fraction(int(k), int(people.sum())) for k in people]
        if trial % 3:
            mean = Fraction(int(draw.integers(1, 12)), 12)
        else:  # a sum of the first: no secret is served in part
            mean = sum(shares[i] for i in order[: 1 + trial % n])
        entries = filled(order, shares, mean)
        bets = [Fraction(int(k)) for k in draw.integers(-3, 9, n)]
        assert (
            sum(shares[i] * x for i, x in entries.items()) == mean
            and list(entries) == order[: len(entries)]
        )
        assert (
            all(x == 1 for x in list(entries.values())[:-1])
            and 0 < min(entries.values()) <= max(entries.values()) <= 1
        )
        with localcontext(Context(prec=60)):
            told = earnings(
                [as_decimal(b / p) for b, p in zip(bets, shares)],
                order,
                [as_decimal(p) for p in shares],
                as_decimal(mean),
            )
            assert (
                abs(told - as_decimal(sum(bets[i] * x for i, x in entries.items())))
                < Decimal(10) ** -50
            )
            column = decimal_entries(entries, n + 1)
            assert column[n] == 0 and all(column[i] == as_decimal(x) for i, x in entries.items())


def test_flows_are_taken_over_in_fractions():
    draw = np.random.default_rng(14)
    for _ in range(12):
        n, m = (int(k) for k in draw.integers(2, 5, 2))
        mask = (draw.random((n, m)) < 0.5) | (np.arange(m) == draw.integers(m, size=(n, 1)))
        shares = as_fractions([Fraction(int(k)) for k in draw.integers(1, 9, n)])
        masses = [sum(shares[i] for i in np.flatnonzero(column)) for column in mask.T]
        lift = max(1 / max(q for q, at in zip(masses, row) if at) for row in mask)
        lift *= 1 + Fraction(int(draw.integers(0, 3)), 7)
        found = cover(mask, shares, lift, Clock())
        assert found.finished and found.excess > -(Decimal(10) ** -40) and sum(found.dual) == 1
        assert not found.flow[~mask].any() and found.flow.sum(axis=1).min() > 1 - 1e-12
        seen = np.array(shares, dtype=float) @ found.flow
        assert abs(seen.sum() - 1 - float(found.excess)) < 1e-12  # costs are means
        assert (found.flow <= float(lift) * seen + 1e-12).all()
        cost = 1 + Fraction(found.excess)
        for j in np.flatnonzero([q * lift >= 1 for q in masses]):
            best = sorted(np.flatnonzero(mask[:, j]), key=lambda i: -found.dual[i] / shares[i])
            earned = sum(found.dual[i] * x for i, x in filled(best, shares, 1 / lift).items())
            assert earned * cost * lift <= 1 + Fraction(1, 10**40)
        visits = list(search_precisely(mask, shares, Fraction(1), Clock()))
        own = [max(q for q, at in zip(masses, row) if at) for row in mask]
        chosen, certain = visits[
            0
        ]  # every secret at its commonest outcome; a dual certificate at the hardest
        assert [masses[j] for j in chosen.argmax(axis=1)] == own and (chosen.sum(axis=1) == 1).all()
        assert certain.index(1) == own.index(min(own))
        assert len(visits) <= 4 and all(not flow[~mask].any() for flow, _ in visits)


def test_aims_in_decimals():
    now = Fraction(2), Decimal(1) / 4  # the line through (1, 1/2) ends at 3
    assert (
        _secant_root(None, now, 50)
        is _secant_root(now, now, 50)
        is _secant_root((Fraction(1), Decimal(1) / 4), now, 50)
        is None
    )
    assert _secant_root((Fraction(1), Decimal(1) / 2), now, 50) == 3 - Fraction(1, 10)
    steep = Fraction(1, 2**20)
    near = _secant_root((2 - steep, Decimal(2)), (Fraction(2), Decimal(1)), 50)
    assert 2 + steep - near == steep**2 / 2
    fine = _secant_root((2 - STORED_RESOLUTION, Decimal(2)), (Fraction(2), Decimal(1)), 50)
    assert fine == 2 + 3 * STORED_RESOLUTION  # beyond
    fine = _secant_root((2 - 3 * STORED_RESOLUTION, Decimal(2)), (Fraction(2), Decimal(1)), 50)
    assert 2 + 2 * STORED_RESOLUTION < fine < 2 + 3 * STORED_RESOLUTION
