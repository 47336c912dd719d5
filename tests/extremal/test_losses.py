"""Losses of single symbols, windows and pairs, against definitions in decimals and against listing."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from pmlbook.extremal.losses import (
    LEVEL_FACTOR,
    Groups,
    circle,
    closed_bound,
    joined,
    near_misses,
    nearest_pairs,
    no_vertices,
    windows,
    with_rest,
)
from pmlbook.foundations.utility import NAMED, FInformation


def by_definition(p, groups, level):
    """Least and largest part, span, share, capacity, spare and the closed bound of mutual information, in decimals."""
    getcontext().prec = 50
    a = (-Decimal(LEVEL_FACTOR) * min(Decimal(level), -Decimal(p.min()).ln())).exp()
    exact, size = [Decimal(share) for share in groups.p], groups.size.tolist()
    low, high = ([end(x, a) for x in exact] for end in (lambda x, a: max(0, a - 1 + x), min))
    width = [top - least for top, least in zip(high, low)]
    share = [(a * x - least) / wide for x, least, wide in zip(exact, low, width)]
    capacity = a - sum(n * least for n, least in zip(size, low))
    entropy = [
        [part / a * (part / (a * x)).ln() if part else 0 for part in (least, top)]
        for x, least, top in zip(exact, low, high)
    ]
    closed = sum(
        n * ((1 - s) * least + s * top) for n, s, (least, top) in zip(size, share, entropy)
    )
    return {
        "a": a,
        "rest": 1 - a,
        "width": width,
        "span": [wide / (a * x) for x, wide in zip(exact, width)],
        "floor": [least / (a * x) for x, least in zip(exact, low)],
        "bottom": [least / (a * x) - 1 for x, least in zip(exact, low)],
        "reach": [x - least for x, least in zip(exact, low)],
        "share": share,
        "capacity": capacity,
        "complement": sum(n * wide for n, wide in zip(size, width)) - capacity,
    }, closed


def covered_by(arcs, begin, length):
    """What a window of a circle of whole numbers covers of each arc."""
    circle_of = np.repeat(np.arange(len(arcs)), arcs)
    at = np.arange(begin, begin + length) % len(circle_of)
    return np.bincount(circle_of[at], minlength=len(arcs))


def test_parts_agree_with_their_definitions_in_fifty_digits():
    information = NAMED["mutual_information"]
    for weights in ([1, 1, 1, 2, 3], [22, 4, 3, 2, 1], [1] * 8, [6, 5, 3, 2], [1] * 30 + [4, 30]):
        p = np.sort(weights) / np.sum(weights)
        for level in (1e-9, 1e-3, 0.1, 0.5, 0.69, 0.7, 1.5, 3.0, 1e3):
            groups = Groups(p, level, information)
            truth, bound = by_definition(p, groups, level)
            for part, value in truth.items():
                off = np.atleast_1d(getattr(groups, part)) - np.array(value, dtype=float)
                assert abs(off).max() <= 1e-14 * len(p) * abs(np.array(value, float)).max(), part
            assert abs(Decimal(groups.closed) - bound) <= Decimal(groups.rounding) < Decimal(1e-11)
            sums = (groups.size * groups.p) @ (abs(groups.ends[0]) + abs(groups.ends[1]))
            assert (
                groups.rounding >= (3 * len(p) + 28) * 2.0**-53 * sums
            )  # three roundings a symbol
            least = min(
                groups.a, groups.rest
            )  # what counts as equal: small beside all parts, not below rounding
            roundings = max(8, len(p)) * 2.0**-53 * min(1, 1e3 * least)
            assert roundings <= groups.tolerance < 2 * roundings
            if 0.1 <= level <= 1.5:  # the level is raised, by little
                kept = (-min(Decimal(level), -Decimal(p.min()).ln())).exp()
                assert 0 < 1 - Decimal(groups.a) / kept < Decimal(1e-14)
            assert (
                groups.left_out == (groups.a >= 0.5)
                and groups.p[groups.member].tolist() == p.tolist()
            )
            assert np.all(np.diff(groups.grid) > 0) and groups.grid[0] == 0 and groups.grid[-1] == 1
            assert groups.grid[1] <= 1e-12
            assert np.allclose(groups.grid, 1 - groups.grid[::-1], rtol=0, atol=2e-16)
            every = np.arange(len(groups.p))
            assert np.array_equal(groups.losses, groups.loss(groups.grid[:, None], every))
            assert np.all(groups.lift(np.ones(len(every)), every) <= 1 / groups.a)
            middle = groups.lift(np.full(len(every), 0.3), every)
            ends = [groups.lift(np.full(len(every), end), every) for end in (0.0, 1.0)]
            assert np.allclose(middle, 0.7 * ends[0] + 0.3 * ends[1], rtol=1e-13, atol=0)
            f = [np.where(x > 0, x * np.log(np.maximum(x, 1e-300)), 0) for x in (*ends, middle)]
            lost = groups.p * (0.7 * f[0] + 0.3 * f[1] - f[2])
            assert np.allclose(
                groups.loss(np.full(len(every), 0.3), every), lost, rtol=0, atol=1e-14
            )


def test_the_bound_is_nothing_where_nothing_may_leak():
    information = NAMED["mutual_information"]
    p = np.sort([1] * 30 + [4, 30]) / 64
    assert closed_bound([1.0], 1.0, information) == closed_bound(p, 0.0, information) == 0
    kink = FInformation(lambda t: np.where(t > 7.5, np.inf, abs(t - 1) / 2))  # finite up to c
    assert np.isfinite(Groups(p, 2.0, kink).closed)


def test_losses_that_are_not_finite_are_refused():
    p = np.sort([1] * 30 + [4, 30]) / 64
    for steep in (
        lambda t: np.where(t == 0, np.inf, t - 1),
        lambda t: np.where(t > 5, np.inf, t - 1),
    ):
        with pytest.raises(ValueError) as error:
            Groups(p, 2.0, FInformation(steep))
        assert "finite" in str(error.value)


def test_windows_cover_what_counting_says():
    information = NAMED["mutual_information"]
    rng = np.random.default_rng(14)
    for _ in range(30):
        arcs = np.sort(rng.multinomial(64 - 7, np.full(7, 1 / 7)) + 1)
        length = int(rng.integers(1, 64))
        many, cut = windows(arcs / 64, length / 64)
        for k, begin in enumerate(np.cumsum(arcs) - arcs):
            parts = np.roll(covered_by(arcs, begin, length), -k)
            whole = min(int((parts == np.roll(arcs, -k)).cumprod().sum()), len(arcs) - 1)
            assert (many[k], cut[k]) == (whole, (length - parts[:whole].sum()) / 64)

        order = rng.permutation(
            len(arcs)
        )  # outside of the same windows, for a level above and below ln 2
        groups = Groups(arcs / 64, float(-np.log(length / 64)), information)
        laid = np.repeat(groups.p, groups.size)[order]
        low = np.maximum(0, groups.a - 1 + laid)
        wide = np.minimum(laid, groups.a) - low
        if (
            abs(groups.a * 64 - length) < 0.5
        ):  # not beyond the level at which the rarest is identified
            for k, column in enumerate(
                circle(groups, order)[np.arange(len(arcs))].filled(groups).T
            ):
                begin = int(np.rint(64 * laid).astype(int)[:k].sum())
                if groups.left_out:
                    begin += 64 - length
                parts = covered_by(np.rint(64 * laid).astype(int), begin, length) / 64
                full = np.bincount(groups.member[order], (parts - low) / wide) / groups.size
                assert np.allclose(column, full, rtol=0, atol=1e-9)


def test_nearest_pairs_and_takers_are_those_of_all():
    rng = np.random.default_rng(14)
    for trial in range(30):
        one, two = (rng.integers(0, 40, size=n) / 8 for n in (9, 12))
        first, second, rest = nearest_pairs(one, two, 3.0, 4, 1e-12)
        assert np.array_equal(rest, 3.0 - one[first] - two[second])
        rests = 3.0 - np.add.outer(one, two)
        under = np.sort(np.where(rests >= 0, rests, np.inf).min(axis=1))
        over = np.sort(np.where(rests < 0, -rests, np.inf).min(axis=1))
        best = [some[np.isfinite(some)][:4] for some in (under, over)]
        assert np.array_equal(np.sort(rest[rest >= 0]), best[0])
        assert np.array_equal(np.sort(-rest[rest < 0]), best[1])

        weights = np.sort(rng.integers(1, 6, size=6))
        groups = Groups(
            weights / weights.sum(), rng.uniform(0.2, 1.5), list(NAMED.values())[trial % 6]
        )
        held = rng.integers(0, groups.size[:, None] + 1, size=(len(groups.p), 40))
        rest = rng.normal(size=40) * groups.width.mean()
        slope = rng.normal(size=len(groups.p)) * groups.losses.max() if trial % 2 else None
        found, cost = with_rest(groups, held, rest, slope)
        wanted, full = [], []
        for column, left in zip(held.T, rest):
            duals = []
            for k, (width, number) in enumerate(zip(groups.width, column)):
                move = left / width
                if abs(move) <= 1 and (number < groups.size[k] if left >= 0 else number > 0):
                    lost = float(groups.loss(np.array([move % 1]), np.array([k]))[0])
                    duals.append(lost - (0 if slope is None else slope[k] * move))
            if duals:
                wanted.append(min(duals))
                full.append(column @ groups.width + left)
        assert np.allclose(cost, wanted, rtol=0, atol=1e-14)
        filled = groups.size * groups.width @ found.filled(groups)
        assert np.allclose(filled, full, rtol=0, atol=1e-13) and found.place.min() >= 0
        assert found.held.min() >= 0 and np.all(found.held <= groups.size[:, None])
        assert len(joined([found, no_vertices(groups), found])) == 2 * len(found)
        assert no_vertices(groups).filled(groups).shape == (len(groups.p), 0)
        assert len(no_vertices(groups)) == len(no_vertices(groups).place) == 0


def test_near_misses_fill_the_capacity():
    information = NAMED["mutual_information"]
    rng = np.random.default_rng(14)
    for weights in (np.repeat([1, 2, 3], 4), rng.exponential(size=8), rng.exponential(size=50)):
        groups = Groups(np.sort(weights) / weights.sum(), 0.8, information)
        sets = len(groups.p) * 4
        few, many = (
            near_misses(groups, power, sets, np.random.default_rng(1)) for power in (8, 14)
        )
        for found in (few, many):
            capacity = groups.size * groups.width @ found.filled(groups)
            assert (
                np.allclose(capacity, groups.capacity, rtol=0, atol=1e-13)
                and 0 < len(found) <= sets
            )
            assert found.held.min() >= 0 and np.all(found.held <= groups.size[:, None])
        assert many.loss(groups).min() <= few.loss(groups).min()
        tilted = near_misses(groups, 8, sets, np.random.default_rng(1), 0.1 * groups.width)
        assert len(tilted) and not np.array_equal(tilted.place, few.place)
        assert np.all(many.held.max(axis=1) > many.held.min(axis=1))  # no symbol is passed over
    assert many.loss(groups).max() < 0.01 * few.loss(groups).max()  # pairs are counted
    half = Groups(
        np.repeat([1, 2, 3], 4) / 24, np.log(2), information
    )  # sets that fit lose nothing
    assert near_misses(half, 8, 12, rng).loss(half).min() == 0
