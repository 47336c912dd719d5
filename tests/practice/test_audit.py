"""Audits in plain loops, and nonsense that is refused."""

import numpy as np

from pmlbook.practice.audit import Audit, audit_leakage, leakage_bracket, noise_level
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
        lambda: noise_level([0, 1, 2], coin, 1.0),
        lambda: noise_level([0, 1], coin, 0.0),
        lambda: noise_level([0, 1e300], coin, 1e-300),
        lambda: noise_level([0, 1], coin, 1.0, "pink"),
    ]
    for make in wrong:
        try:
            make()
            raise AssertionError("nonsense was audited")
        except ValueError:
            pass
    assert leakage_bracket([[0, 1], [1, 0]], coin)[1].max() <= np.log(2)
    assert audit_leakage(lambda x: x, coin, [0, 1], trials=1).confidence == 0.95
    assert noise_level([3, 3], coin, 1.0) == 0 == noise_level([3, 3], coin, 1.0, "gaussian")
    assert abs(noise_level([3, 5], coin, 2.0) - noise_level([-1, 0], coin, 1.0)) < 1e-15
