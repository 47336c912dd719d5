"""The bound in whole people, against one programme and against fractions."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
from scipy.optimize import linprog

from pmlbook.extremal import lattice as module
from pmlbook.extremal.lattice import (
    common_unit,
    denominator_of,
    hulls,
    lattice_duals,
    lattice_loss,
    possible_rests,
)
from pmlbook.extremal.losses import Groups
from pmlbook.foundations.leakage import epsilon_max
from pmlbook.foundations.utility import NAMED


def test_hulls_and_the_bound_against_one_programme():
    rng = np.random.default_rng(46)
    for trial in range(9):
        counts = np.sort(rng.integers(1, 12, size=int(rng.integers(2, 8))))
        n, u = int(counts.sum()), list(NAMED.values())[trial % 6]
        p = counts / n
        groups = Groups(p, (rng.uniform(0.05, 0.98) if trial else 1.1) * epsilon_max(p), u, n)
        least, most = rests = possible_rests(groups)
        size, every, feasible = groups.size, np.arange(len(groups.p)), least <= most
        ends = [np.where(feasible, np.clip(rest / groups.width, 0, 1), 0) for rest in rests]
        places = np.array([0 * groups.p, 0 * groups.p + 1, *ends])
        lost = np.array([0 * groups.p, 0 * groups.p, *(groups.loss(x, every) for x in ends)])
        taker = np.array([False, False, True, True])
        scale = groups.losses.max()
        for dual in (0.0, 0.3 * scale, scale, 3 * scale):
            cost, often, slope = hulls(groups, rests, dual)
            for k in every:  # a line that all four points lie above, and a mixture on it
                points = [i for i in range(4) if feasible[k] or not taker[i]]
                paid = (lost[:, k] - dual * taker)[points]
                line = cost[k] + slope[k] * (places[points, k] - groups.share[k])
                assert np.all(paid >= line - 1e-15 * (1 + abs(slope[k])))
                mix = linprog(
                    paid,
                    None,
                    None,
                    [places[points, k], np.ones(len(points))],
                    [groups.share[k], 1],
                )
                assert np.isclose(mix.fun, cost[k], rtol=0, atol=1e-12)
                assert -1e-15 <= often[k] <= 1 + 1e-15
                on_it = np.isclose(paid, line, rtol=0, atol=1e-13)
                takes = taker[points][on_it]
                assert often[k] <= 1e-12 or takes.any()
                assert often[k] >= 1 - 1e-12 or not takes.all()
        bound, slope = lattice_duals(groups)
        with patch.object(module, "DUAL_MARGIN", 1e-3):  # what rounding may add is taken off
            assert lattice_duals(groups)[0] < bound or bound == 0
        # the same as one programme: of each symbol how often it is where, with one taker in all
        value, rows, one = [], [], []
        for k in every:
            points = [i for i in range(4) if feasible[k] or not taker[i]]
            here = list(range(len(value), len(value) + len(points)))
            value += (size[k] * lost[points, k] / max(scale, 1e-300)).tolist()
            one += (size[k] * taker[points]).tolist()
            rows += [(here, places[points, k], groups.share[k]), (here, np.ones(len(points)), 1.0)]
        equal = np.zeros((len(rows) + 1, len(value)))
        for row, (here, numbers, _) in enumerate(rows):
            equal[row, here] = numbers
        equal[-1] = one
        whole = linprog(value, None, None, equal, [right for *_, right in rows] + [1.0])
        if whole.status == 0:
            assert np.isclose(bound, whole.fun * scale, rtol=0, atol=1e-9 * max(scale, 1e-300))
            assert bound <= whole.fun * scale + 1e-12 * scale
        assert lattice_loss(groups) == bound >= 0 and np.isfinite(slope).all()


def test_denominators_are_found_up_to_the_limit():
    for n, told in (
        (2**40 // 3, True),
        (2**40 // 3 + 1, False),
    ):  # just few enough for two, and not
        assert denominator_of([Fraction(1, n), Fraction(n - 1, n)]) == (n if told else None)
    assert (
        denominator_of([Fraction(1, 4), Fraction(1, 6), Fraction(7, 12)]) == 12
        and denominator_of([1.0]) == 1
    )


def test_units_are_read_off_a_prior():
    for n, counts in (
        (12, [1, 2, 3, 6]),
        (7, [3, 2, 2]),
        (10**6 + 3, [1, 2, 10**6]),
        (4, [1, 1, 1, 1]),
    ):
        assert common_unit(np.array(counts) / n) == n // np.gcd.reduce([n, *counts])
    assert common_unit(np.array([1, 10**7 - 1]) / 10**7) == 10**7  # just allowed, and just not
    assert common_unit(np.array([1, 10**7]) / (10**7 + 1)) is None
    assert common_unit(np.array([0.5 + 2e-13, 0.5 - 2e-13])) is None
    assert common_unit(np.array([1 / 3 + 2.0**-53, 2 / 3])) == 3
    assert common_unit(np.array([1 / 5003, 5002 / 5003 - 1 / 4999, 1 / 4999])) is None


def test_rests_of_whole_people_in_fractions():
    information = NAMED["mutual_information"]
    rng = np.random.default_rng(43)
    for _ in range(200):  # the rests that whole people leave, in fractions, rounding and all
        counts = np.sort(rng.integers(1, 10 ** int(rng.integers(1, 5)), size=40))
        n = int(counts.sum())
        groups = Groups(counts / n, rng.uniform(1.0, 3.0), information, n)
        if groups.floor.any() or groups.left_out or groups.p[-1] > groups.a:
            continue
        least, most = possible_rests(groups)
        first = Fraction(groups.a) % Fraction(1, n)
        for low, high, count in zip(least, most, np.unique(counts).tolist()):
            last = first + (Fraction(count, n) - first) // Fraction(1, n) * Fraction(1, n)
            assert low <= first and (
                last <= high or high == groups.width[counts.tolist().index(count)]
            )
