"""Cost leakage: against fractions and programmes for the worst cost, and at the edges."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import pmlbook as pb
from pmlbook.numerics.enclosure import reaches
from pmlbook.practice.estimated_prior import PriorRegion

cost, level, worst = pb.measures.cost_leakage, pb.measures.cost_level, pb.robust.worst_cost_leakage
FLIP = [[0.75, 0.25], [0.25, 0.75]]


@pytest.mark.parametrize("seed", range(30))
def test_the_level_against_the_numbers_that_are_stored(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    rows = rng.random((n, m)) * 2.0 ** -rng.choice([0, 0, 20, 45], (n, m)) + 1e-12
    prior = rng.dirichlet(np.ones(n)) * (1 - 1e-8 * n) + 1e-8
    made = pb.Mechanism(rows / rows.sum(axis=1, keepdims=True), prior / prior.sum())
    ratios = []
    for column in zip(*made.weights.tolist()):
        if any(column):
            mean = sum(p * v for p, v in zip(made.exact_prior, column))
            ratios.append(mean / min(column) if min(column) else math.inf)
    if math.inf in ratios:
        assert level(made) == math.inf
    else:
        found = level(made)
        assert reaches(found, max(ratios)) and (
            found == 0 or not reaches(found * (1 - 1e-15), max(ratios))
        )
    floats = cost(made.channel, made.prior)
    assert np.isclose(np.nanmax(floats), level(made), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_no_cost_saves_more_and_one_saves_as_much(seed):
    """One action: the expected cost before, for a cost of one after; HiGHS against the closed form."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    rows, prior = rng.dirichlet(np.full(3, 0.7), n), rng.dirichlet(np.ones(n))
    for column, found in zip(rows.T, cost(rows, prior)):
        after = prior * column / (prior @ column)
        best = linprog(-prior, A_eq=[after], b_eq=[1])
        assert -best.fun == pytest.approx(math.exp(found), rel=1e-8)
        dual = prior @ (1 / prior * np.eye(n)[int(np.argmin(column))])  # its cost before
        assert dual / (after @ (1 / prior * np.eye(n)[int(np.argmin(column))])) == pytest.approx(
            math.exp(found)
        )


def test_exclusion_is_infinite_and_silence_is_nan():
    assert cost([[1, 0], [0.5, 0.5]], [0.5, 0.5]).tolist() == [
        pytest.approx(math.log(1.5)),
        math.inf,
    ]
    assert level(pb.Mechanism(np.eye(2), [0.5, 0.5])) == math.inf
    found = cost([[1, 0], [1, 0]], [0.5, 0.5])
    assert (
        found[0] == 0
        and math.isnan(found[1])
        and level(pb.Mechanism([[1, 0], [1, 0]], [0.5, 0.5])) == 0
    )
    for one in ([[1.0]], [[0.5, 0.5]]):
        assert cost(one, [1]).tolist() == [0] * len(one[0]) and level(pb.Mechanism(one, [1])) == 0


def test_tiny_numbers():
    rare = [1 - 1e-8, 1e-8]
    assert cost(FLIP, rare) == pytest.approx([math.log(3), 0], abs=1e-7)
    faint = cost([[1 - 1e-300, 1e-300], [0.5, 0.5]], [0.5, 0.5])
    assert faint[1] == pytest.approx(math.log(0.25) + 300 * math.log(10), rel=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_worst_prior_by_a_programme(seed):
    rng = np.random.default_rng(seed)
    region = pb.robust.box_region(rng.multinomial(200, rng.dirichlet(np.ones(4))) + 1)
    rows = rng.dirichlet(np.ones(3), 4)
    limits = list(zip(region.low, region.high))
    means = [-linprog(-c, A_eq=[np.ones(4)], b_eq=[1], bounds=limits).fun for c in rows.T]
    assert worst(rows, region) == pytest.approx(np.log(means / rows.min(axis=0)), abs=1e-9)
    ball = pb.robust.ball_region(rng.multinomial(200, np.ones(4) / 4))
    assert (worst(rows, ball) >= cost(rows, ball.prior) - 1e-12).all()


@pytest.mark.parametrize("seed", range(20))
def test_worst_levels_are_rounded_up(seed):
    """Every vertex of a box in fractions: all shares at an end but one."""
    rng = np.random.default_rng(seed)
    low = [Fraction(int(k), 32) for k in rng.integers(1, 5, 4)]
    high = [end + Fraction(int(k), 32) for end, k in zip(low, rng.integers(4, 9, 4))]
    if not sum(low) < 1 < sum(high):
        return
    vertices = []
    for ends, free in product(product((0, 1), repeat=4), range(4)):
        share = [(low, high)[end][i] for i, end in enumerate(ends)]
        share[free] = 1 - sum(share) + share[free]
        if low[free] <= share[free] <= high[free]:
            vertices.append(share)
    prior = np.mean(np.array(vertices, dtype=float), axis=0)
    region = PriorRegion(prior, np.array(low, dtype=float), np.array(high, dtype=float))
    rows = rng.integers(1, 2**20, (4, 3)) / 2.0**22
    rows[:, 2] = 1 - rows[:, :2].sum(axis=1)  # exactly
    for column, cost_found, found in zip(
        rows.T.tolist(), worst(rows, region), pb.robust.worst_leakage(rows, region)
    ):
        exact = list(map(Fraction, column))
        means = [sum(p * c for p, c in zip(share, exact)) for share in vertices]
        for value, ratio in (
            (cost_found, max(means) / min(exact)),
            (found, max(exact) / min(means)),
        ):
            assert reaches(value, ratio) and not reaches(math.nextafter(value, 0), ratio)


def test_worst_at_the_edges():
    region = pb.robust.box_region([50, 50])
    found = worst([[1, 0, 0], [0.5, 0.5, 0]], region)
    assert found[1] == math.inf and math.isnan(found[2]) and found[0] > 0
    assert worst([[0.3, 0.7]] * 2, region).tolist() == [0, 0]


def test_randomised_response_is_optimal():
    """The programme over lift vectors with a lower bound alone has no better value."""
    prior = np.array([0.6, 0.3, 0.1])
    for eta in (0.1, 0.7, 2.0):
        s = math.exp(-eta)
        best = (1 - s) * np.eye(3) + s * prior
        lifts = []  # all but one at an end
        for place, ends in product(range(3), product((s, 1 / prior.min()), repeat=2)):
            lift = np.insert(np.array(ends), place, 0.0)
            lift[place] = (1 - prior @ lift) / prior[place]
            if s <= lift[place] <= 1 / prior.min():
                lifts.append(lift)
        gain = [-float(prior @ (v * np.log(v))) for v in lifts]
        free = linprog(gain, A_eq=np.array(lifts).T, b_eq=np.ones(3))
        value = pb.measures.mutual_information(best, prior)
        assert value == pytest.approx(-free.fun, abs=1e-9)


def test_bad_input():
    with pytest.raises(pb.InvalidPrior, match=r"prior\[0\] = 0"):
        cost(FLIP, [0, 1])
    with pytest.raises(pb.InvalidChannel, match="row 0 of channel sums to 1.1"):
        cost([[0.6, 0.5], [0.5, 0.5]], [0.5, 0.5])
    with pytest.raises(ValueError, match="release must be a Mechanism"):
        level(FLIP)
    with pytest.raises(ValueError, match="region must be a PriorRegion"):
        worst(FLIP, [0.5, 0.5])


def test_names_meet():
    channel = pd.DataFrame([[0.5, 0.5], [0.25, 0.75]], ["no", "yes"])
    assert (
        cost(channel, {"yes": 0.25, "no": 0.75}).tolist()
        == cost(channel.to_numpy(), [0.75, 0.25]).tolist()
    )
    assert Fraction(level(pb.Mechanism(channel, {"yes": 0.25, "no": 0.75}))) > 0


def test_the_level_of_many_releases_beyond_a_thousand_nats():
    made = pb.Mechanism([[1 - 2.0**-53, 2.0**-53], [2.0**-53, 1 - 2.0**-53]], [0.5, 0.5])
    joint = pb.budget.compose(*[made] * 30)
    assert level(joint) == pytest.approx(30 * 53 * math.log(2) - math.log(2), abs=1e-9)
