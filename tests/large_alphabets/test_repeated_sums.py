"""Repeated sums: units, rests, cells and hulls, against listing every choice."""

from fractions import Fraction
from itertools import combinations
from unittest.mock import patch

import numpy as np

from pmlbook.extremal.lift_vectors import lift_vectors
from pmlbook.foundations.leakage import epsilon_max
from pmlbook.foundations.utility import NAMED
from pmlbook.large_alphabets import repeated_sums as module
from pmlbook.large_alphabets.few_numbers import numbers_full, upper_hull
from pmlbook.large_alphabets.losses import Groups
from pmlbook.large_alphabets.pricing import greedy, price, rest_reaches
from pmlbook.large_alphabets.repeated_sums import (
    CELL_POINTS,
    MAX_AVERAGE_UNITS,
    Crowded,
    SumCells,
    common_unit,
    highest,
    near_an_end,
    near_fillings,
    near_units,
    possible_rests,
    price_cells,
    price_sums,
    sums_of,
    sums_repeat,
    sums_without,
)
from pmlbook.numerics.progress import Clock


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


def test_rests_and_cells_hold_every_vertex():
    information = NAMED["mutual_information"]
    rng = np.random.default_rng(16)
    for trial in range(20):
        counts = np.sort(rng.integers(1, 7, size=5) if trial % 4 else np.array([1, 1, 2, 3, 20]))
        p = counts / counts.sum()
        groups = Groups(p, rng.uniform(0.1, 0.95) * epsilon_max(p), information)
        least, most = possible_rests(groups)
        seen = [[] for _ in groups.p]
        for held in np.ndindex(*(groups.size + 1)):
            rest = groups.capacity - float(np.dot(held, groups.width))
            for k in np.flatnonzero(np.array(held) < groups.size):
                if 1e-12 < rest < groups.width[k] - 1e-12:
                    seen[k].append(rest)
        for k, rests in enumerate(seen):
            unit = (
                np.gcd.reduce(counts) / counts.sum()
            )  # and no rest of one unit less or more would do
            assert all(least[k] <= rest <= most[k] for rest in rests)
            for end in (least[k], most[k]):
                apart = (np.array(rests) - end) / unit  # whole numbers of people
                assert abs(apart - np.rint(apart)).max(initial=0) < 1e-9
            assert least[k] == 0 or least[k] < unit * (1 + 1e-9)
            assert most[k] <= groups.width[k] and (
                most[k] > groups.width[k] - unit * (1 + 1e-9) or least[k] > most[k]
            )
        told = Groups(p, 0.3, information, int(counts.sum() // np.gcd.reduce(counts)))
        assert [x.tolist() for x in possible_rests(told)] == [
            x.tolist() for x in possible_rests(Groups(p, 0.3, information))
        ]
        irregular = Groups(np.sort(rng.dirichlet(np.ones(5))), 0.3, information)
        free = possible_rests(irregular)
        assert not free[0].any() and np.array_equal(free[1], irregular.width)

        units = near_units(groups)
        assert units.min() >= 1 and units @ groups.size <= MAX_AVERAGE_UNITS * groups.size.sum()
        size, width, every = groups.size, groups.width, np.arange(len(groups.p))
        q = rng.normal(size=len(width)) * width
        slack = abs(q).sum()
        halves = every[::2], every[1::2]
        for k in halves[0]:
            one, two = sums_of(groups, q, halves[0], k), sums_of(groups, q, halves[1])
            cost, i, j, x = near_an_end(groups, q, slack, k, one, two)
            up, down = (side[k] for side in rest_reaches(groups, q, slack))
            rests = groups.capacity - np.add.outer(one.weight, two.weight)
            inside = (rests > -groups.same / 2) & (rests < width[k] + groups.same / 2)
            inside &= (rests < up) | (rests > width[k] - down)
            assert set(zip(*map(np.ndarray.tolist, np.nonzero(inside)))) <= set(
                zip(i.tolist(), j.tolist())
            )
            assert np.allclose(x * width[k], rests[i, j], rtol=0, atol=1e-13)
            paid = max(q[k], 0) - q[k] * x + groups.loss(x, np.full(len(x), k))
            less = one.cost[i] + two.cost[j] + paid - cost  # what rounding may have added
            assert np.all((less >= -1e-14) & (less <= 1e3 * groups.same))
            held = one.counts(i, len(q)) + two.counts(j, len(q))
            assert np.all(held <= size[:, None]) and np.all(held[k] < size[k])

        cells = SumCells(groups)
        assert cells.few and np.array_equal(cells.units, units)
        assert np.allclose(cells.apart + cells.unit * units, width, rtol=0, atol=1e-15)
        assert abs(cells.apart).max() <= cells.unit * 2
        for held in np.ndindex(*(size + 1)):  # each vertex lies in its cell
            rest, total = groups.capacity - np.dot(held, width), int(np.dot(held, units))
            if min(held) >= 0 and any(
                held[k] < size[k] and -1e-14 <= rest <= width[k] for k in every
            ):
                at = np.flatnonzero(cells.sums == total)
                assert len(at) == 1
                assert cells.rests[at[0], 0] - 1e-13 <= rest <= cells.rests[at[0], -1] + 1e-13
        slope = cells.slopes(q)
        for some in (slope, slope + 0.01 * rng.normal(size=len(slope)), 0 * slope):
            taken, price_of_sum, last = cells.fill(q, some)
            rows = np.repeat(cells.sums, len(CELL_POINTS))
            assert np.allclose(taken @ units, rows, rtol=0, atol=1e-12)
            assert taken.min() >= 0 and np.all(taken <= size)
            worth = q - np.outer(some, cells.apart) - np.outer(price_of_sum, units)
            assert np.all((worth <= 1e-12) | (taken == size)) and np.all(
                (worth >= -1e-12) | (taken == 0)
            )
            assert np.allclose(worth[np.arange(len(last)), last], 0, rtol=0, atol=1e-13)
            top, best = highest(cells, q, some, price_of_sum), -np.inf
            for held in np.ndindex(*(size + 1)):
                for k in every[np.array(held) < size]:
                    x = (groups.capacity - np.dot(held, width)) / width[k]
                    if -1e-13 <= x <= 1 + 1e-13:
                        x = np.array([min(max(x, 0.0), 1.0)])
                        lost = float(groups.loss(x, np.array([k]))[0])
                        best = max(best, float(np.dot(held, q) + q[k] * x[0]) - lost)
            assert best <= top + 1e-13 and (some is not slope or top <= best + 0.6 * slack)
        found = near_fillings(cells, q, *cells.fill(q, slope)[::2], 2)
        assert found.held.min() >= 0 and np.all(found.held <= size[:, None])
        assert np.all(found.held[found.taker, np.arange(len(found))] < size[found.taker])
        assert np.allclose(size * width @ found.filled(groups), groups.capacity, rtol=0, atol=1e-13)
        assert (
            np.bincount(found.taker).max() <= 2 and 0 <= found.place.min() <= found.place.max() <= 1
        )


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


def test_units_of_widths_that_are_whole():
    information = NAMED["mutual_information"]
    for weights in ([1, 2, 2, 3], [2, 2, 3, 3, 5, 5, 7], [3, 3, 4, 5, 5, 7, 11]):
        p = np.array(weights) / sum(weights)  # widths that are one, two or three units, at least
        several = Groups(p, 0.9, information)
        if np.array_equal(several.width, several.p):
            assert np.array_equal(near_units(several), np.unique(weights))


def test_no_cells_and_no_time():
    p = np.array([1, 2, 2, 3, 5]) / 13
    groups = Groups(p, 0.5 * epsilon_max(p), NAMED["mutual_information"])
    q, cells = np.random.default_rng(16).normal(size=len(groups.p)) * groups.width, SumCells(groups)
    cells.few = False
    assert len(price_cells(cells, q, 2)[0]) == 0
    assert price_cells(cells, q, 2)[1] == -greedy(groups, q)[1]
    with Clock(0.0, None, "no time") as clock:
        none, bound, complete = price_sums(groups, q, 2, clock)
        assert len(none) == 0 and bound == -greedy(groups, q)[1] and not complete


def test_units_multipliers_and_limits_are_chosen_well():
    rng = np.random.default_rng(43)
    for trial in range(24):
        counts = np.sort(rng.integers(1, 7, size=6)) * (1 + 1e-4 * rng.normal(size=6) * (trial % 2))
        p = counts / counts.sum()
        groups = Groups(p, rng.uniform(0.1, 0.95) * epsilon_max(p), list(NAMED.values())[trial % 6])
        size, width, q = groups.size, groups.width, rng.normal(size=len(groups.p)) * groups.width
        units, cells = near_units(groups), SumCells(groups)

        def off(whole):
            """How far the widths are from a multiple of some whole numbers, in that unit, altogether."""
            unit = float((size * whole) @ width / ((size * whole) @ whole))  # noqa: B023
            return float(size @ abs(width - unit * whole)) / unit  # noqa: B023

        others = [
            np.maximum(1, np.rint(parts * width / one)).astype(int)
            for one in (width.min(), np.median(width))
            for parts in (1, 2, 3)
        ]
        small = [whole for whole in others if whole @ size <= MAX_AVERAGE_UNITS * size.sum()]
        assert off(units) <= 1.002 * min([off(whole) for whole in small]) or off(units) == 0
        assert any(np.array_equal(units, whole) for whole in [*small, np.ones(len(q))])

        slope = cells.slopes(q)  # at it the filling weighs what it should: a little less, too much
        target = (groups.capacity - cells.rests - cells.unit * cells.sums[:, None]).ravel()
        far, step = 1e6 * abs(slope).max(), 1e-6 * abs(slope) + 1e-7 * abs(slope).max()
        if np.ptp(cells.apart / units) > 1e-9:
            heavy, light, before, after = (
                cells.fill(q, s)[0] @ cells.apart
                for s in (-far + 0 * slope, far + 0 * slope, slope - step, slope + step)
            )
            inside = (light < target - 1e-12) & (target < heavy - 1e-12)
            inside &= abs(slope) < 10 * np.median(abs(slope))
            assert inside.any() and np.all((before >= target - 1e-12)[inside])
            assert np.all((after <= target + 1e-12)[inside])
        for silly in (
            0.0,
            1e3,
            -1e3,
        ):  # no multiplier makes the bound worse than all that is earned
            ones = np.ones(len(slope))
            assert highest(cells, q, silly * ones, -silly * ones) <= size @ np.maximum(q, 0) + 1e-15

        entries = cells.rests.size * len(width)  # just few enough, and just not
        with patch.dict(vars(module), MAX_CELL_PRODUCTS=entries):
            assert SumCells(groups).few
        with patch.dict(vars(module), MAX_CELL_PRODUCTS=entries - 1):
            assert not SumCells(groups).few
        order = np.argsort(-width)
        most = max(
            len(sums_of(groups, 0 * q, half[: k + 1]).weight)
            for half in (order[::2], order[1::2])
            for k in range(len(half))
        )
        with patch.dict(vars(module), MAX_HALF_SUMS=most):
            assert sums_repeat(groups)
        with patch.dict(vars(module), MAX_HALF_SUMS=most - 1):
            assert not sums_repeat(groups)
        k, halves = int(order[0]), (order[::2], order[1::2])
        one, two = sums_of(groups, q, halves[0], k), sums_of(groups, q, halves[1])
        up, down = (min(side[k], width[k]) for side in rest_reaches(groups, q, np.inf))
        rests = groups.capacity - np.add.outer(one.weight, two.weight)
        pairs = int(((rests >= -groups.same) & (rests <= up + groups.same)).sum())
        assert up == down == width[k]  # the first window is all of the symbol
        with patch.dict(vars(module), MAX_SUM_PAIRS=pairs):
            assert len(near_an_end(groups, q, np.inf, k, one, two)[0]) >= pairs
        with patch.dict(vars(module), MAX_SUM_PAIRS=pairs - 1):
            try:
                near_an_end(groups, q, np.inf, k, one, two)
                raise AssertionError("not crowded")
            except Crowded:
                pass
        with patch.dict(vars(module), MAX_SUM_PAIRS=-1):
            none, bound, complete = price_sums(groups, q, 2)
            assert len(none) == 0 and bound == -greedy(groups, q)[1] and not complete
        duals = groups.p * size + q
        found, bound, complete = price_sums(groups, duals, 2)
        gain = (duals @ found.filled(groups) - found.loss(groups)).max(initial=0)
        enough = (gain + greedy(groups, duals)[2]) / 2
        if (
            0 < gain < enough - 1e-9
        ):  # a column of smaller excess is not returned, and the bound includes it
            asked = price_sums(groups, duals, 2, enough=enough)
            less = float(duals @ groups.share) - asked[1]
            assert len(asked[0]) == 0 and np.isclose(less, enough, rtol=0, atol=1e-12)
            assert np.bincount(found.taker).max() <= 2


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
        assert price_cells(SumCells(groups), duals, 2)[1] <= least - base + 1e-15 * least


def test_no_choice_lies_above_the_hull():
    draw = np.random.default_rng(31)
    for trial in range(60):
        n, ties = int(draw.integers(2, 9)), trial % 3
        width = 1 + 10.0 ** -draw.integers(1, 6) * draw.normal(size=n)
        profit = draw.normal(size=n)
        width[:ties], profit[:ties] = width[0], profit[0]
        for many in range(n + 1):
            sets, above = upper_hull(profit, width, many)
            assert (np.sort(sets, axis=1)[:, 1:] > np.sort(sets, axis=1)[:, :-1]).all()
            assert above < 1e-9
            vertex = np.array([[part[s].sum() for part in (width, profit)] for s in sets])
            assert (np.diff(vertex[:, 0]) >= -1e-14).all()
            for choice in combinations(range(n), many):
                at, height = width[list(choice)].sum(), profit[list(choice)].sum()
                assert vertex[0, 0] - 1e-12 <= at <= vertex[-1, 0] + 1e-12
                at = np.clip(vertex[vertex[:, 1].argmax(), 0], at - 1e-14, at + 1e-14)
                assert (
                    height <= np.interp(at, *vertex.T) + above + 1e-14
                )  # no choice lies above the hull
        p = np.sort(width / width.sum())
        groups = Groups(
            p, draw.uniform(0.05, 0.95) * epsilon_max(p), list(NAMED.values())[trial % 6]
        )
        lifts, member = lift_vectors(p, -np.log(groups.a)), groups.member
        x = (lifts - groups.floor[member][:, None]) / groups.span[member][:, None]
        ends = np.array([(x < 1e-9).sum(axis=0), (x > 1 - 1e-9).sum(axis=0)])
        inside = n - ends.sum(axis=0)
        met = np.append(
            ends[1][inside == 1], ends[1][inside == 0] - 1
        )  # a full one may be the taker
        assert set(np.maximum(met, 0)) <= set(numbers_full(groups)) | {0}
