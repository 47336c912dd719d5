"""Audits in plain loops, and nonsense that is refused."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from pmlbook.audit.other_mechanisms import Audit, audit_leakage, leakage_bracket
from pmlbook.numerics.enclosure import level_of
from pmlbook.release.intervals import clopper_pearson


def test_brackets_in_plain_loops():
    table, share = np.array([[9, 3, 0], [2, 6, 4], [5, 5, 2]]), [0.5, 0.3, 0.2]
    down, up = clopper_pearson(table, table.sum(axis=1, keepdims=True), 0.1 / (2 * 9))
    low, high = leakage_bracket(table, share, 0.9)
    for j in range(3):
        ends = []
        for own, others in ((down, up), (up, down)):
            rest = [sum(share[k] * others[k, j] for k in range(3) if k != i) for i in range(3)]
            ends.append(
                max(
                    np.log(own[i, j] / (share[i] * own[i, j] + rest[i]))
                    for i in range(3)
                    if own[i, j]
                )
            )
        assert np.isclose(low[j], max(ends[0], 0), rtol=0, atol=1e-12)
        assert np.isclose(high[j], min(ends[1], -np.log(0.2)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_brackets_are_rounded_outwards(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    share = np.maximum(rng.dirichlet(np.full(n, 0.3)), 1e-8)
    share /= share.sum()
    table = rng.integers(0, [3, 50, 10**6][seed % 3], size=(n, m)) + np.eye(n, m, dtype=int)
    table[:, 0] += 1
    down, up = clopper_pearson(table, table.sum(axis=1, keepdims=True), (1 - 0.9) / (2 * n * m))
    low, high = leakage_bracket(table, share, 0.9)
    one = sum(map(Fraction, share.tolist()))
    p = [Fraction(x) / one for x in share.tolist()]
    with localcontext(Context(prec=60)):
        for j in range(m):
            logs = []
            for own, others in ((down, up), (up, down)):
                lifts = [Fraction(1)]
                for i in range(n):
                    rest = sum(p[k] * Fraction(others[k, j]) for k in range(n) if k != i)
                    mine = Fraction(own[i, j])
                    lifts.append(mine / (p[i] * mine + rest) if mine else Fraction(0))
                most = max(lifts)
                logs.append((Decimal(most.numerator) / Decimal(most.denominator)).ln())
            assert Decimal(low[j]) <= logs[0] <= logs[1] <= Decimal(high[j])
            assert logs[0] == 0 or logs[0] < Decimal(np.nextafter(low[j], 1))
            assert logs[1] == 0 or logs[1] > Decimal(np.nextafter(high[j], 0))


def test_nonsense_is_not_audited():
    told = Audit(("a", "b"), np.array([0.1, np.nan]), np.array([0.2, np.nan]), 0.9)
    assert told.level == (0.1, 0.2) and "0.1 to 0.2" in repr(told)
    coin = [0.5, 0.5]
    wrong = [
        lambda: leakage_bracket([[1, 2]], coin),
        lambda: leakage_bracket([[-1, 2], [1, 2]], coin),
        lambda: leakage_bracket([[0.5, 2], [1, 2]], coin),
        lambda: leakage_bracket([[0, 0], [1, 2]], coin),
        lambda: audit_leakage(lambda x: x, coin, [0, 1], trials=10_000_001),
        lambda: audit_leakage(lambda x: x, coin, [0, 1], trials=0),
        lambda: audit_leakage(lambda x: x, coin, trials=3),
        lambda: audit_leakage(lambda x: x, coin),
        lambda: audit_leakage(coin, coin, [0, 1], trials=3),
        lambda: audit_leakage(lambda x: 2, coin, [0, 1], trials=3),
    ]
    for make in wrong:
        try:
            make()
            raise AssertionError("nonsense was audited")
        except ValueError:
            pass
    assert leakage_bracket([[0, 1], [1, 0]], coin)[1].max() <= level_of(Fraction(2))
    assert audit_leakage(lambda x: x, coin, [0, 1], trials=1).confidence == 0.95
