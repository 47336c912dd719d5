"""Sums of counts: which are kept, against sums without each group, and the bound where a loss is steep."""

from fractions import Fraction

import numpy as np

from pmlbook.extremal.losses import Groups
from pmlbook.extremal.pricing import greedy, price
from pmlbook.extremal.repeated_sums import price_sums, sums_of, sums_repeat, sums_without
from pmlbook.foundations.utility import NAMED


def counted(n, people, seed):
    """Shares of so many people's answers, in proportion to 1/k."""
    each = 1 / np.arange(1, n + 1)
    counts = np.random.default_rng(seed).multinomial(people, each / each.sum()) + 1
    return np.sort(counts / counts.sum())


def test_only_sums_that_a_vertex_can_have_are_kept():
    """Of the 74,000 and 42,000 sums of the halves of a hundred counts an outcome has 9,100 each."""
    groups = Groups(counted(100, 10**5, 1), 0.1, NAMED["mutual_information"], 100_100)
    assert groups.left_out and sums_repeat(groups)
    free = Groups(counted(100, 10**5, 1), 1.0, NAMED["mutual_information"], 100_100)
    assert not sums_repeat(free)  # at one nat a room of a third of all


def test_setting_each_aside_by_halves_is_setting_it_aside():
    rng = np.random.default_rng(17)
    for trial in range(20):
        counts = np.sort(rng.integers(1, 9, size=9))
        groups = Groups(counts / counts.sum(), rng.uniform(0.1, 1.5), NAMED["hellinger"])
        q = rng.normal(size=len(groups.p)) * groups.width
        which, slack = np.arange(len(q))[trial % 2 :], [np.inf, abs(q).sum() / 3][trial % 2]
        seen = []
        for k, found in sums_without(groups, q, which, slack):
            alone = sums_of(groups, q, which, k, slack)
            assert np.allclose(found.weight, alone.weight, rtol=0, atol=1e-14)
            assert np.allclose(found.cost, alone.cost, rtol=0, atol=1e-14)
            held = found.counts(np.arange(len(found.weight)), len(q))
            assert np.allclose(held.T @ groups.width, found.weight, rtol=0, atol=1e-14)
            assert np.all(held <= groups.size[:, None]) and np.all(held[k] < groups.size[k])
            seen.append(k)
        assert sorted(seen) == which.tolist()


def test_a_steep_loss_is_not_overstated():
    rng = np.random.default_rng(43)
    for trial in range(100):  # a steep loss, and a set that leaves no more than rounding
        p = np.sort(rng.dirichlet(np.full(6, 4.0)))
        some = rng.random(6) < 0.4
        mass = float(p[some].sum()) + (1.2e-15, 2e-15, 4e-15, 1e-14)[trial % 4]
        groups = Groups(p, -np.log(mass), NAMED["hellinger"])
        if not some.any() or groups.floor.any() or groups.left_out or groups.p[-1] > groups.a:
            continue
        duals = rng.normal(size=6) * groups.width * (0, 1e-7, 1e-3)[trial % 3]
        a = Fraction(groups.a)
        q, base, _ = greedy(groups, duals)
        least = np.inf
        for held in np.ndindex(*np.full(6, 2)):
            rest = a - sum(map(Fraction, p[np.array(held) > 0].tolist()))
            flips = float(np.maximum(q, 0).sum() - q @ held)
            for k in np.flatnonzero((rest >= 0) & (rest <= p) & (np.array(held) == 0)):
                x = float(rest / Fraction(p[k]))
                lost = 2 * p[k] / np.sqrt(groups.a) * (np.sqrt(x) - x)  # by hand
                least = min(least, flips - q[k] * x + lost)
        for bound in (price_sums(groups, duals, 2)[1], price(groups, duals, 2**12, 10**6, 2)[1]):
            assert bound <= least - base + 1e-15 * least
