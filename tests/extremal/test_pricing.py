"""The parts of the pricing search, against listing every vertex."""

from unittest.mock import patch

import numpy as np
from scipy.optimize import linprog

from pmlbook.extremal import few_numbers
from pmlbook.extremal import pricing as module
from pmlbook.extremal.few_numbers import (
    every_kind,
    multipliers,
    numbers_full,
    price_numbers,
)
from pmlbook.extremal.losses import Groups
from pmlbook.extremal.pricing import (
    FLIP_STEPS,
    Pairs,
    PartialSets,
    best_of,
    cheapest,
    greedy,
    price,
    rest_reaches,
    two_halves,
)
from pmlbook.foundations.leakage import epsilon_max
from pmlbook.foundations.probability import random_prior
from pmlbook.foundations.utility import NAMED
from pmlbook.numerics.progress import Clock


def test_every_vertex_within_the_slack_is_found():
    rng = np.random.default_rng(15)
    for trial in range(24):
        counts = np.sort(rng.integers(1, 5, size=6 if trial % 2 else 5))
        weights = counts if trial % 3 else np.sort(rng.exponential(size=5))
        p, u = weights / weights.sum(), list(NAMED.values())[trial % 6]
        groups = Groups(p, rng.uniform(0.2, 0.9 * epsilon_max(p)), u)
        size, width, every = groups.size, groups.width, np.arange(len(groups.p))
        duals = groups.p * size + rng.normal(size=len(every)) / 10
        q, base, top = greedy(groups, duals)
        most = linprog(
            -duals / size, None, None, [width], [groups.capacity], [(0, n) for n in size]
        )
        assert np.isclose(top, -most.fun, rtol=0, atol=1e-9) and np.any(q == 0)
        assert np.isclose(top - base, duals @ groups.share, rtol=0, atol=1e-14)

        slack = abs(q).max() * rng.uniform(0.3, 2)
        up, down = rest_reaches(groups, q, slack)
        for x in np.linspace(0, 1, 201)[1:-1]:
            dear = np.maximum(q, 0) - q * x + groups.loss(np.full(len(q), x), every) > slack
            assert not np.any(~dear & (x * width > up) & ((1 - x) * width > down))
        assert np.all(up <= width) and np.all(down <= width)
        for ends, reach in ((up / width, up), (1 - down / width, down)):
            paid = np.maximum(q, 0) - q * ends + groups.loss(ends, every)
            assert np.all((paid > slack * (1 - 1e-9)) | (reach == width))

        halves = two_halves(groups, q, slack, 10**6)
        assert halves[2] == slack
        free = [set(half.strides) for half in halves[:2]]
        assert not free[0] & free[1] and free[0] | free[1] == set(np.flatnonzero(abs(q) <= slack))
        for half in halves[:2]:
            assert np.all(np.diff(half.weight) >= 0) and half.flips.max(initial=0) <= slack
            assert len(set(half.code.tolist())) == len(half.code)
            off = {g: half.code // stride % (size[g] + 1) for g, stride in half.strides.items()}
            step = {g: -width[g] if q[g] > 0 else width[g] for g in off}
            for many, each in ((half.weight, step), (half.flips, abs(q))):
                assert np.allclose(
                    many, sum((each[g] * off[g] for g in off), 0), rtol=0, atol=1e-14
                )
            inside, outside = (
                sum(size[g] * width[g] for g in off if (q[g] > 0) == greedy_took)
                for greedy_took in (True, False)
            )  # what alone is too much for the room, or too little for it, is not kept
            assert np.all(inside + half.weight <= half.capacity + 1e-14)
            assert np.all(outside - half.weight <= half.complement + 1e-14)
        near = Pairs(groups, q, slack, halves[:2])
        blocks = [np.zeros((2, 0), int), *map(np.stack, near.blocks())]
        some = np.concatenate(blocks, axis=1)
        assert some.shape[1] == near.many == len(set(map(tuple, some.T.tolist())))
        rest, flips, least = near.pair_costs(tuple(some))
        cost, found = near.vertices(tuple(some), rest, flips)
        assert np.allclose(size * width @ found.filled(groups), groups.capacity, rtol=0, atol=1e-13)
        assert found.held.min(initial=0) >= 0 and np.all(found.held <= size[:, None])
        assert np.all(found.held[found.taker, np.arange(len(found))] < size[found.taker])
        truth = top - (duals @ found.filled(groups) - found.loss(groups))
        assert np.all(cost <= truth + 1e-13) and np.all(truth - cost <= 1e-6)

        wanted = set()  # every vertex within the slack, by hand
        for held in np.ndindex(*(size + 1)):
            for k in np.flatnonzero(np.array(held) < size):
                x = (groups.capacity - np.dot(held, width)) / width[k]
                x = 0.0 if abs(x) < 1e-12 else 1.0 if abs(x - 1) < 1e-12 else x
                if 0 <= x <= 1:
                    full = np.array(held, float)
                    full[k] += x
                    dear = np.maximum(q, 0) @ size - q @ full + groups.loss(np.array([x]), k)[0]
                    if dear < slack * (1 - 1e-9):
                        wanted.add(tuple(np.round(full, 6) + 0.0))
        full = found.held.astype(float)
        full[found.taker, np.arange(len(found))] += found.place
        assert wanted <= set(map(tuple, np.round(full, 6).T + 0.0))
        assert cost.min(initial=np.inf) >= least.min(initial=np.inf) - 1e-13
        rests = near.rests
        widest = np.array([1, -1]) * (width.max() + groups.tolerance)
        assert rests.cost(widest).tolist() == [rests.least[0][-1], rests.least[1][-1]]
        for k in every:  # no group takes or gives back a rest for less than the bound
            far = np.linspace(0, rests.far[rests.far <= width[k]].max(), 60)
            for sign, x in ((1, far / width[k]), (-1, 1 - far / width[k])):
                paid = groups.loss(x, k) - sign * q[k] * far / width[k]
                seen = rests.cost(sign * far) if sign > 0 else rests.cost(np.minimum(-far, -1e-300))
                assert np.all(seen <= paid + 1e-14)
                cheap = np.maximum.accumulate(paid) <= slack / 2
                limit = rests.windows(np.array([slack / 2]))[sign > 0][0]
                assert np.all(far[cheap] <= sign * limit)

        for keep in (1, 2):
            few, kept = best_of(cost, found, keep)
            for k in every:
                mine = np.sort(cost[found.taker == k])[:keep]
                assert np.array_equal(np.sort(few[kept.taker == k]), mine)
        bound = cheapest(near, 2)[1]
        assert np.isclose(bound, max(cost.min(initial=slack), 0), rtol=0, atol=1e-15)
        short = two_halves(groups, q, slack, 3)
        assert max(len(half.code) for half in short[:2]) <= 3 and 0 <= short[2] <= slack
        whole = price(groups, duals, 10**4, 10**6, 2)
        gain = (duals @ whole[0].filled(groups) - whole[0].loss(groups)).max(initial=0)
        if gain > 0:  # what is not asked for is not needed
            asked = price(groups, duals, 10**4, 10**6, 2, enough=gain / 2)
            assert asked[2] and np.isclose(asked[1], whole[1], rtol=0, atol=1e-15)
        with Clock(0.0, None, "no time") as clock:
            nothing_yet, bound, complete = price(groups, duals, 10**4, 10**6, 2, clock)
            assert len(nothing_yet) == 0 and bound == -base and not complete
            assert len(blocks) == 1 or cheapest(near, 2, clock)[1] == 0
            assert two_halves(groups, q, slack, 10**4, clock)[2] == 0


def every_vertex(groups):
    """Number of full symbols, taker, place and how full each group is, of every vertex, by hand."""
    for held in np.ndindex(*(groups.size + 1)):
        for k in np.flatnonzero(np.array(held) < groups.size):
            x = (groups.capacity - np.dot(held, groups.width)) / groups.width[k]
            if -1e-12 <= x <= 1 + 1e-12:
                full = np.array(held, float)
                full[k] += np.clip(x, 0, 1)
                yield sum(held), k, float(np.clip(x, 0, 1)), full


def test_every_kind_of_vertex_is_priced():
    rng, used = np.random.default_rng(16), set()
    for trial in range(24):
        ties = 1 + rng.choice([0.02, 0.1, 1]) * rng.integers(-2, 3, size=7) / 3
        p, u = np.sort(ties / ties.sum()), list(NAMED.values())[trial % 6]
        groups = Groups(p, rng.uniform(0.2, 0.95 * epsilon_max(p)), u)
        size, width, numbers = groups.size, groups.width, numbers_full(groups)
        duals = groups.p * size + rng.normal(size=len(size)) * size / rng.choice([10, 100, 1000])
        best, best_of_all = {}, 0.0
        for number, k, x, full in every_vertex(groups):
            assert number in numbers or x > 1 - 1e-12
            excess = duals / size @ full - groups.loss(np.array([x]), k)[0]
            best_of_all = max(best_of_all, excess)
            for kind in every_kind(numbers):
                part = x if kind.side > 0 else 1 - x
                if number + (kind.side < 0) == kind.number and kind.first <= part <= kind.last:
                    best[kind] = max(best.get(kind, -np.inf), excess)
        for kind in best:
            among, q, top = multipliers(groups, duals, kind)
            assert top >= best[kind] - 1e-12  # no vertex exceeds the top
        with patch.object(few_numbers, "LISTED_PART", np.inf):
            found, bound, complete = price_numbers(groups, duals, numbers, 10**4, 10**6, 3)
            hasty = price_numbers(groups, duals, numbers, 3, 5, 1)[1]
            enough = best_of_all / 2
            asked = price_numbers(groups, duals, numbers, 10**4, 10**6, 3, enough=enough)
        excess = (duals @ found.filled(groups) - found.loss(groups)).max(initial=0)
        assert complete and np.isclose(excess, best_of_all, rtol=0, atol=1e-10)
        assert np.isclose(bound, duals @ groups.share - best_of_all, rtol=0, atol=1e-7)
        assert max(bound, hasty, asked[1]) <= duals @ groups.share - best_of_all + 1e-12
        assert np.allclose(size * width @ found.filled(groups), groups.capacity, rtol=0, atol=1e-13)
        used |= {(kind.first, kind.side) for kind in best}
    assert len(used) == 8  # each interval had its vertices


def test_branches_of_a_half():
    half = PartialSets(1.0, 1.0)  # a code that no whole number of 63 bits could hold is not begun
    for g in range(40):
        assert half.branch(g, 3, 0.0, 1.0, 0.5, 10) == (0.5 if g < 30 else 1.0)
    assert len(half.strides) == 30 and half.radix == 4**30


def test_no_pair_is_asked_for_that_is_too_dear():
    rng = np.random.default_rng(44)
    for trial in range(6):
        p = np.sort(random_prior(6, rng)) if trial % 2 else np.array([1, 1, 2, 3, 5, 5]) / 17
        u = list(NAMED.values())[trial % 6]
        groups = Groups(p, rng.uniform(0.2, 0.9 * epsilon_max(p)), u)
        size, width, every = groups.size, groups.width, range(len(groups.p))
        duals = groups.p * size + rng.normal(size=len(size)) / 10
        q, base, top = greedy(groups, duals)
        slack = abs(q).max() * rng.uniform(0.3, 2)
        near = Pairs(groups, q, slack, two_halves(groups, q, slack, 10**6)[:2])
        rests, far = near.rests, near.rests.far.tolist()

        def paid(k, rest, sign):
            """The cost for group k to take a rest, or to give it back."""
            x = np.array([rest / width[k] if sign > 0 else 1 - rest / width[k]])  # noqa: B023
            return float(groups.loss(x, k)[0]) - sign * q[k] * rest / width[k]  # noqa: B023

        for side, sign in enumerate((1, -1)):
            cheap = [  # in each interval, for each group that a rest of its lower end fits in
                [
                    min(paid(k, end, sign) for end in ends if end <= width[k])
                    if ends[0] <= width[k]
                    else np.inf
                    for k in every
                ]
                for ends in zip(far, far[1:])
            ]
            assert np.allclose(rests.least[side], np.min(cheap, axis=1), rtol=0, atol=1e-15)
            for less in (0.01 * slack, 0.1 * slack, slack):
                over = (np.array(cheap) > less + 1e-15).cumsum(
                    axis=0
                ) > 0  # here, or on the way here
                last = far[int(np.argmax(over.all(axis=1)))] if over.all(axis=1).any() else far[-1]
                assert rests.windows(np.array([less]))[sign > 0][0] == sign * last

        pairs = [
            tuple(pair) for block in near.blocks() for pair in zip(*map(np.ndarray.tolist, block))
        ]
        assert len(pairs) == len(set(pairs)) == near.many
        one, two = near.halves
        for i, j in pairs:  # none is asked for that is sure to cost more than the slack
            spent = max(step * slack for step in FLIP_STEPS if step * slack <= two.flips[j])
            left = slack - spent - one.flips[i]
            low, high = (window[0] for window in rests.windows(np.array([left])))
            assert left >= 0 and low - 1e-14 <= near.want[i] - two.weight[j] <= high + 1e-14
        for few in (1, 7):
            with patch.dict(vars(module), PAIRS_AT_ONCE=few):
                assert pairs == [
                    tuple(pair)
                    for block in near.blocks()
                    for pair in zip(*map(np.ndarray.tolist, block))
                ]
                longest = max([0, *(row for *_, many in near.ranges for row in many.tolist())])
                assert all(len(i) <= max(few, longest) for i, _ in near.blocks())

        found, bound, complete = price(groups, duals, 10**4, near.many, 3)
        excess = float((duals @ found.filled(groups) - found.loss(groups)).max(initial=0))
        assert np.isclose(duals @ groups.share - bound, excess, rtol=0, atol=1e-10) or not complete
        moved = price(groups, duals + 0.7 * size * width, 10**4, 10**6, 3)  # all fill the same room
        whole = price(groups, duals, 10**4, 10**6, 3)
        assert np.isclose(moved[1], whole[1], rtol=0, atol=1e-13) and moved[2] == whole[2]


def test_a_rest_of_rounding_is_none():
    # the sums of the widths, rounded, and a vertex that is whole but for less: it loses nothing
    groups = Groups(np.array([0.1, 0.2, 0.3, 0.4]), -np.log(0.5), NAMED["hellinger"])
    q = np.zeros(4)
    near = Pairs(groups, q, 1.0, two_halves(groups, q, 1.0, 10**4)[:2])
    for off, free in ((0.5, True), (-0.5, True), (2.0, False)):
        block = np.zeros(1, int), np.zeros(1, int)
        near.want[0] = near.halves[1].weight[0] + off * groups.tolerance
        rest, flips, least = near.pair_costs(block)
        assert (rest[0] == 0) == free
        cost, vertex = near.vertices(block, rest, flips)
        nearer = (
            np.array([max(off - 1, 0) * groups.tolerance]) / groups.width
        )  # as near as rounding hides
        assert np.all(cost <= groups.loss(nearer, np.arange(4))[vertex.taker])
        assert (cost.max() == 0) == free
        assert least[0] <= cost.min()  # for any rest, up to rounding
    # where next to nothing may be lost, the pairs that leave no rest are looked at, rounded up or down
    groups.capacity, tiny = 0.5, 1e-300
    near = Pairs(groups, q, tiny, two_halves(groups, q, tiny, 10**4)[:2])
    apart = abs(near.want[:, None] - near.halves[1].weight)
    assert near.many == (apart < groups.tolerance).sum() == 2  # 0.1 + 0.4 and 0.2 + 0.3
