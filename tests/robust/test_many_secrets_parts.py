"""Robust designs for many secrets: columns by definition, exchanges, ceilings, arcs and the search."""

from fractions import Fraction

import numpy as np
from scipy.special import xlogy

from pmlbook.robust.column_ceilings import (
    EMPTY,
    ENDS,
    FULL,
    NO_ZERO,
    NO_ZERO_UPPER,
    PART,
    SOME_ZERO,
    Knapsacks,
    column_ceilings,
    highest_worth,
    min_of,
)
from pmlbook.robust.estimated_prior import PriorRegion, ball_region, box_region, least_mean
from pmlbook.robust.many_secrets import MasterOfColumns, circle_columns, exchanged


def by_definition(region, limit, duals, states):
    """Worth and t of a column, from the least probabilities of its two sets in fractions."""
    inner, both, p = states == FULL, states != EMPTY, region.prior
    a, b = (least_mean(region, s.tolist()) if s.any() else 0 for s in (inner, both))
    if not inner.any() or max(a, b) < 1 / limit:
        return -np.inf, 0.0
    t = float((1 / limit - a) / (b - a)) if a < 1 / limit else 0.0
    v = np.where(inner, 1.0, np.where(both, t, 0.0))
    return xlogy(p * v, v).sum() - xlogy(p @ v, p @ v) - duals @ v, t


def worths(packs, duals, columns):
    """Worth and t of columns by the sums of their sets."""
    each = packs.sums(duals)
    return Knapsacks.worth(packs, *((each @ (columns == state).T) for state in (FULL, PART)))


class Watched(Knapsacks):
    """Knapsacks that record their arguments."""

    asked = []

    def worth(self, inner, outer):
        self.asked.append(super().worth(inner, outer)[0])
        return super().worth(inner, outer)


def by_grids(region, limit, duals, kind, first, last):
    """The theorem's bound at multipliers from grids that shrink around their best, and its mu."""
    p, upper = region.prior, kind == NO_ZERO_UPPER
    tau, top = (1.0, 1.0) if upper else (first, last)
    x = np.array([first if kind else 0.0, first if upper else last, 1.0])[:, None]
    rest = 1 - region.free - region.high.sum()
    need = float(1 / limit) - rest * tau - (region.free * last if kind else 0)
    held = region.low * x + (region.high - region.low) * np.minimum(x, top)
    at, reach = np.array([2, 0]), np.array([2, 1.5])
    for _ in range(50):
        mu, theta = (a + r * np.linspace(-1, 1, 7) for a, r in zip(at, reach))
        mu, theta = np.meshgrid(np.maximum(mu, 0), theta, indexing="ij")
        terms = xlogy(p * x, x) - duals * x - theta[..., None, None] * p * x
        best = (terms + mu[..., None, None] * held).max(axis=2).sum(axis=2)
        total = np.exp(theta - 1) - mu * need + best
        k = np.unravel_index(total.argmin(), total.shape)
        at, reach = np.array([mu[k], theta[k]]), 0.75 * reach
    return total.min(), at[0]


def test_worths_by_definition():
    dice = np.random.default_rng(31)
    every = np.stack(np.meshgrid(*[range(3)] * 4), axis=-1).reshape(-1, 4)
    four = [make([41, 30, 20, 9]) for make in (box_region, ball_region)]
    for region in four:
        packs, duals = Knapsacks(region, Fraction(3, 2)), dice.normal(size=4)
        found = np.column_stack(worths(packs, duals, every))
        told = np.array([by_definition(region, Fraction(3, 2), duals, states) for states in every])
        np.testing.assert_allclose(found, told, rtol=0, atol=1e-14)
        high = sum(map(Fraction, region.high.tolist()))
        assert (
            packs.miss == 0
            and 0 <= Fraction(packs.rest) - (1 - Fraction(region.free) - high) < 1e-15
        )
        assert (
            0 <= Fraction(2, 3) - Fraction(packs.floor) < 1e-15 < packs.most - 1.5 + 2e-15 < 4e-15
        )


def test_a_limit_beyond_all_lifts():
    four = [make([41, 30, 20, 9]) for make in (box_region, ball_region)]
    assert Knapsacks(four[0], Fraction(9)).most == 4


def test_priors_that_miss_one():
    half = np.full(2, 0.5)
    for low, high in ((half + 1e-10, [1, 1]), ([0, 0], half - 1e-10)):
        assert 2e-10 <= Knapsacks(PriorRegion(half, low, high), Fraction(2)).miss < 1e-8


def test_an_exchange_finds_the_best_neighbour():
    dice = np.random.default_rng(31)
    every = np.stack(np.meshgrid(*[range(3)] * 4), axis=-1).reshape(-1, 4)
    four = [make([41, 30, 20, 9]) for make in (box_region, ball_region)]
    for trial in range(12):
        packs, duals = Watched(four[trial % 2], Fraction(3, 2)), dice.normal(size=4) / 4
        packs.asked, start = [], dice.integers(0, 3, 4)
        around = every[(every != start).sum(axis=1) <= 2]
        best, states = exchanged(packs, duals, start.copy())
        near, tops = every[(every != states).sum(axis=1) <= 2], [f.max() for f in packs.asked]
        first = worths(packs, duals, around)[0]
        np.testing.assert_allclose(np.sort(packs.asked[0]), np.sort(first), rtol=0, atol=1e-14)
        assert np.isclose(worths(packs, duals, states[None])[0][0], best, rtol=0, atol=1e-14)
        assert worths(packs, duals, near)[0].max() <= best + 2e-13
        assert (np.diff(tops[:-1]) > 1e-13).all() and tops[-1] <= tops[-2] + 2e-13


def test_the_golden_section_shortens_as_it_should():
    centre, ends, asked = np.array([0, 0.3, 0.77, 2, 3]), np.array([1.0, 1, 1, 2, 3]), []
    place, value = min_of(lambda x: asked.append(x) or (x - centre) ** 2, 0 * ends, ends, 20)
    ratio = np.roots([1, 1, -1]).max()
    assert (abs(place - centre) <= ends * ratio**20).all() and len(asked) == 22
    assert (value == (place - centre) ** 2).all()
    assert (np.array(asked) >= 0).all() and (np.array(asked) <= ends).all()


def test_ceilings_against_grids():
    dice = np.random.default_rng(31)
    four = [make([41, 30, 20, 9]) for make in (box_region, ball_region)]
    begin = np.array([0, 0.25, 0.5, 0.75, 0.9, 0.6, 1])
    end = np.array([0.25, 0.5, 0.75, 0.9, 1, 0.6, 1])
    kinds = (SOME_ZERO, NO_ZERO, NO_ZERO_UPPER)
    sharp = 0
    for region, kind in [(four[0], SOME_ZERO), *((four[1], kind) for kind in kinds)]:
        packs, duals = Knapsacks(region, Fraction(5, 2)), dice.normal(size=4) * region.prior / 3
        above, _ = column_ceilings(packs, duals, begin, end, kind)
        for bound, a, b in zip(above, begin, end):
            told, mu = by_grids(region, Fraction(5, 2), duals, kind, a, b)
            if mu < 9:  # otherwise hardly a column has this tau, and the best multiplier is far off
                sharp += 1
                assert -1e-3 < bound - told < 1e-6
    assert sharp > 15


def test_ceilings_at_the_ends():
    four = [make([41, 30, 20, 9]) for make in (box_region, ball_region)]
    begin = np.array([0, 0.25, 0.5, 0.75, 0.9, 0.6, 1])
    end = np.array([0.25, 0.5, 0.75, 0.9, 1, 0.6, 1])
    for sign, state in ((9, EMPTY), (-9, FULL)):
        vertices = column_ceilings(
            Knapsacks(four[0], Fraction(3, 2)), np.full(4, sign), begin[:4], end[:4]
        )[1]
        assert (vertices == state).all() and vertices.shape == (4, 4)


def test_the_intervals_cover_everything():
    assert ENDS[0] == 0 and ENDS[-1] == 1 and (np.diff(ENDS) > 0).all()


def test_the_search_is_as_near_as_asked():
    dice = np.random.default_rng(31)
    every = np.stack(np.meshgrid(*[range(3)] * 4), axis=-1).reshape(-1, 4)
    four = [make([41, 30, 20, 9]) for make in (box_region, ball_region)]
    kinds = (SOME_ZERO, NO_ZERO, NO_ZERO_UPPER)
    single = np.linspace(0, 1, 41)
    for region, near in [(four[1], 0.1)]:
        packs, duals = Knapsacks(region, Fraction(3, 2)), dice.normal(size=4) * region.prior / 3
        points = [column_ceilings(packs, duals, single, single, kind)[0].max() for kind in kinds]
        most = max(0, *points)
        reached = highest_worth(packs, duals, near)
        assert worths(packs, duals, every)[0].max() <= reached <= most + 1.5 * near
        assert highest_worth(packs, duals + 9, near) == 0


def test_arcs_hold_just_enough():
    dice = np.random.default_rng(31)
    four = [make([41, 30, 20, 9]) for make in (box_region, ball_region)]
    packs = Knapsacks(four[1], Fraction(3, 2))
    laid = np.array(circle_columns(packs, dice))
    assert len(laid) == 4 * 4 + 1 and (laid[0] == FULL).all()
    in_order = np.argsort(-packs.prior)
    for k, states in enumerate(laid[1:]):
        inner, both = (packs.prior * 0 + 1)[states == FULL].sum(), (states != EMPTY).sum()
        assert np.isfinite(worths(packs, np.zeros(4), states[None])[0][0]) and both <= inner + 1
        if both > inner:  # the last one is needed
            assert least_mean(four[1], (states == FULL).tolist()) < Fraction(2, 3)
        if k < 4:
            assert (
                np.roll(in_order, -k)[:both] == [i for i in np.roll(in_order, -k) if states[i]]
            ).all()
    pool = MasterOfColumns(packs)
    pool.add([*laid, *laid, np.zeros(4, dtype=int), np.eye(4, dtype=int)[0]])
    assert len(pool.states) == len(np.unique(laid, axis=0)) == len(pool.known)
    for states, entries, value in zip(pool.states, pool.entries, pool.values):
        worth, t = worths(packs, np.zeros(4), states[None])
        assert value == worth[0] and (entries == np.array([0, t[0], 1])[states]).all()


def test_one_rare_secret_alone_is_the_best_column():
    rare = np.array([1e-3, 0.3, 0.3, 0.399])
    alone = Knapsacks(PriorRegion(rare, rare, rare), Fraction(1100))
    beyond = highest_worth(alone, np.array([0.0, 5, 5, 5]), 1e-6) - 1e-3 * np.log(1e3)
    assert 0 <= beyond < 1e-6
