"""Tables of two columns against a count by hand, and the search against functions whose root is known."""

import math

import numpy as np
import pandas as pd
from refusals import refusal

from pmlbook.estimation import two_way_table as module
from pmlbook.estimation.two_way_table import two_way
from pmlbook.release.intervals import ROOT_TOLERANCE, halved_miss, last_good
from pmlbook.release.mechanism import Mechanism

rng = np.random.default_rng(12)
rows = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.1, 0.2, 0.7]])
noisy = Mechanism(rows, [0.5, 0.3, 0.2], outputs=range(3))
shown, where = rng.integers(3, size=200), rng.choice(["north", "south"], 200).tolist()
table, goal = two_way(noisy, shown, where), np.array([1.0, -2.0, 4.0])
order = ["north", "south"]
counted = [[sum((shown == y) & (np.array(where) == g)) for g in order] for y in range(3)]
by_hand = np.linalg.inv(noisy.channel).T @ (np.array(counted) / 200)
flip = Mechanism(np.array([[0.9, 0.1], [0.2, 0.8]]), [0.5, 0.5], outputs=(0, 1))
climbed = two_way(
    noisy, [0, 1, 2], pd.Categorical(["mid", "low", "low"], ["low", "mid", "high"], ordered=True)
)


def test_the_last_good_point_is_found():
    for falls, root in [
        (lambda s: 0.3 - s, 0.3),
        (lambda s: 0.3 - s if s <= 0.3 else -100.0, 0.3),
        (lambda s: 1 - 1e-9 - (s > 0.3), 0.3),
        (lambda s: math.exp(-40 * s) - math.exp(-12), 0.3),
    ]:
        asked = []

        def value(s, falls=falls, asked=asked):
            asked.append(s)
            return falls(s)

        found = last_good(value, 0.0, 1.0)
        assert falls(found) >= 0 and root - 1e-6 <= found <= root + 1e-12 and len(asked) < 80
    assert last_good(lambda s: 2 - s, -1.0, 2.0) == 2 and last_good(lambda s: 2 - s, -1.0, 1.0) == 1
    assert (
        last_good(lambda s: -1 - s, -1.0, 1.0) == -1
        and last_good(lambda s: -2 - s, -1.0, 1.0) == -1
    )
    assert last_good(lambda s: 0.0 if s <= 1e-9 else -1.0, 0.0, 1.0) == 0


def test_frequencies_are_those_by_hand():
    assert table.public and table.groups == tuple(order) and table.inputs == noisy.inputs
    assert np.allclose(table.frequencies, by_hand, rtol=0, atol=1e-12)


def test_means_and_their_errors_are_those_by_hand():
    for k, group in enumerate(order):
        mean = table.mean(goal, group)
        assert np.isclose(
            mean.value, goal @ by_hand[:, k] / by_hand[:, k].sum(), rtol=1e-12, atol=0
        )
        moved = []
        for cell in np.ndindex(3, 2):
            nudge = np.zeros((3, 2))
            nudge[cell] = 1e-6
            up, down = (by_hand + sign * nudge for sign in (1, -1))
            ratio = [goal @ f[:, k] / f[:, k].sum() for f in (up, down)]
            moved.append((ratio[0] - ratio[1]) / 2e-6)
        assert np.allclose(mean.slope, moved, rtol=1e-6, atol=1e-6)
        variance = moved @ table.joint.covariance @ moved
        assert np.isclose(mean.standard_error**2, variance, rtol=1e-5, atol=0)
        same = table.within(group).of(goal)
        assert np.isclose(same.value, mean.value, rtol=1e-12, atol=0)
        for method in ("exact", "score"):
            assert mean.interval(0.9, method) == same.interval(0.9, method)


def test_differences_of_means():
    means = [table.mean(goal, group) for group in order]
    apart = table.difference(goal, *order)
    assert np.isclose(apart.value, means[0].value - means[1].value, rtol=0, atol=1e-12)
    both = sum(mean.standard_error**2 for mean in means)  # other people: independent errors
    assert np.isclose(apart.standard_error**2, both, rtol=1e-3, atol=0)
    low, high = (mean.interval(halved_miss(0.9)) for mean in means)
    assert apart.interval(0.9) == (low[0] - high[1], low[1] - high[0])
    assert table.difference(goal, order[0], order[0]).interval() == (0, 0)
    ends, one_by_one = apart.interval(0.9, "score"), [mean.interval(0.9, "score") for mean in means]
    assert one_by_one[0][0] - one_by_one[1][1] < ends[0] < apart.value < ends[1]
    splits = means[0].at_splits(0.9)
    assert np.allclose(splits[-1], one_by_one[0], rtol=0, atol=1e-9)
    assert (np.diff(splits[:, 0]) < 0).all() and (np.diff(splits[:, 1]) > 0).all()


def test_two_released_columns():
    rng = np.random.default_rng(13)
    first, second = rng.integers(2, size=60), rng.integers(2, size=60)
    pair, flipped = two_way(flip, first, second, flip), two_way(flip, second, first, flip)
    assert not pair.public and pair.frequencies.shape == pair.standard_errors.shape == (2, 2)
    assert np.isclose(pair.frequencies.sum(), 1, rtol=0, atol=1e-12)
    assert np.allclose(flipped.frequencies.T, pair.frequencies, rtol=0, atol=1e-12)
    one, goal = pair.mean([-2, 4], 1), np.array([-2.0, 4])
    assert np.isclose(
        one.value, goal @ pair.frequencies[:, 1] / pair.frequencies[:, 1].sum(), rtol=1e-12, atol=0
    )
    ends, turned = one.interval(0.9), pair.mean(3 - goal, 1).interval(0.9)
    assert -2 <= ends[0] < one.value < ends[1] <= 4
    inside = one.interval(0.9, "score")  # the group is a guess too: exact ends lie well outside
    assert ends[0] < inside[0] < one.value < inside[1] < ends[1]
    assert np.allclose(turned, 3 - np.array(ends)[::-1], rtol=0, atol=1e-4)


def test_gaps_orders_and_empty_groups():
    gaps = two_way(noisy, [0, 1, 2], [None, np.nan, "x"])
    assert gaps.groups == ("x", None) and gaps.joint.counts.tolist() == [0, 1, 0, 1, 1, 0]
    turned = two_way(noisy, shown[::-1], where[::-1])  # met in another order
    assert turned.groups == table.groups and (turned.frequencies == table.frequencies).all()
    assert climbed.groups == ("low", "mid", "high") and np.isnan(climbed.mean(float, "high").value)
    assert "no row is in the group" in refusal(climbed.within, "high")
    for method in ("exact", "score"):
        assert climbed.mean([5, -1, 2], "high").interval(method=method) == (-1, 5)
        assert climbed.difference([5, -1, 2], "high", "low").interval(method=method)[1] == 6


def test_cells_are_counted_by_outcomes_and_by_inputs(monkeypatch):
    def too_many(cells, channel):
        """Whether a table with a public column of two values has more cells than allowed."""
        prior = np.full(len(channel), 1 / len(channel))
        mechanism = Mechanism(channel, prior, outputs=range(channel.shape[1]))
        monkeypatch.setattr(module, "MAX_TABLE_CELLS", cells)
        return "merge values" in refusal(two_way, mechanism, [0, 0], ["a", "b"])

    wide, tall = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]), np.ones((4, 1))
    assert [too_many(cells, wide) for cells in (6, 5, 1)] == [False, True, True]
    assert [too_many(cells, tall) for cells in (8, 7)] == [False, True]


def test_the_search_stops_near_the_root():
    assert last_good(lambda x: 1 - x, 0.0, 1.0) == 1 and last_good(lambda x: -x, 0.0, 1.0) == 0
    for end in (1e-12, 0.3, 0.9999):
        found = last_good(lambda x, end=end: end**3 - x**3, 0.0, 1.0)
        assert found <= end < found + 4 * ROOT_TOLERANCE
