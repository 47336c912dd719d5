"""Expected utility: two roads, the least level, floors and units."""

import warnings
from fractions import Fraction

import numpy as np

from pmlbook.foundations.probability import exact_prior, random_prior
from pmlbook.numerics.linear_programmes import Infeasible
from pmlbook.numerics.progress import Clock
from pmlbook.worst_case.dual_certificate import channels_of
from pmlbook.worst_case.expected_utility import (
    _affordable,
    _candidates,
    _solve,
    _solve_precisely,
    expected_utility,
    expected_utility_mechanism,
    floor_dual_bound,
)
from pmlbook.worst_case.least_leakage import Bracket, min_leakage


def test_two_roads_solve_one_programme():
    draw = np.random.default_rng(15)
    for trial in range(10):
        n, m = (int(k) for k in draw.integers(2, 5, 2))
        mask = (draw.random((n, m)) < 0.5) | (np.arange(m) == draw.integers(m, size=(n, 1)))
        p = random_prior(n, draw)
        shares = exact_prior(p)
        worth = np.array([[Fraction(int(k), 8) for k in draw.integers(0, 9, m)] for _ in range(n)])
        worth[~mask] = Fraction(0)
        lift = Bracket(mask, p)
        lift.narrow(Clock(), 0.0)
        lift = Fraction(float(lift.lift) * (1.001 + 0.3 * (trial % 3)))
        gain = p[:, None] * worth.astype(float)
        earned, proved = [], []
        for flow, duals in (
            _solve(gain, mask, p, float(lift)),
            _solve_precisely(worth, mask, shares, lift, Clock()),
        ):
            assert not flow[~mask].any() and abs(flow.sum(axis=1) - 1).max() < 1e-9
            assert (flow <= float(lift) * (p @ flow) + 1e-8).all()
            earned.append((gain * flow).sum())
            proved.append(floor_dual_bound(worth, mask, shares, lift, [Fraction(x) for x in duals]))
            assert -1e-7 < float(proved[-1]) - earned[-1] < 1e-7
            other = [
                Fraction(x) + Fraction(int(k), 50) for x, k in zip(duals, draw.integers(-9, 9, n))
            ]
            assert floor_dual_bound(worth, mask, shares, lift, other) >= earned[-1] - 1e-8
        assert abs(earned[1] - float(proved[1])) < 1e-12 and abs(earned[0] - earned[1]) < 1e-7
        assert expected_utility(
            flow, p, np.where(mask, worth.astype(float), np.nan)
        ) == expected_utility(flow, p, worth.astype(float))
        roads = list(zip(range(3), _candidates(worth, mask, shares, lift, Clock())))
        assert len(roads) == 3 and all(
            abs(flow.sum(axis=1) - 1).max() < 1e-6 for _, (flow, _) in roads
        )
        floats = [dual.denominator for _, (_, duals) in roads for dual in duals]
        assert all(k & (k - 1) == 0 for k in floats)  # the quick road first, as long as it succeeds
        assert len(list(_candidates(worth, mask, shares, lift, Clock(0)))) <= 1
        for rows in channels_of(flow * draw.uniform(1, 2, (n, 1)), p):
            assert (
                abs(rows.sum(axis=1) - 1).max() < 1e-15
                and rows.min() >= 0
                and not rows[~mask].any()
            )


def test_channels_of_rare_rows():
    rare = np.array(
        [[0.5, 0.5, 0.0], [1 - 1e-18, 0.0, 1e-18]]
    )  # what hardly occurs is dropped, if it may be
    assert [
        len(channels_of(rows, np.array([0.5, 0.5])))
        for rows in (rare, np.array([[1.0, 0], [0, 1]]))
    ] == [2, 1]
    assert channels_of(rare, np.array([0.5, 0.5]))[-1][:, 2].tolist() == [0, 0]
    only = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert len(channels_of(only, np.array([1.0, 1e-45]))) == 1  # the only outcome
    worthless = np.array([[2.0, np.nan], [4.0, 8.0]])  # by hand: 3/4 * 2 + 1/4 * (4 + 8) / 2
    assert expected_utility(np.array([[1, 0], [0.5, 0.5]]), np.array([0.75, 0.25]), worthless) == 3
    ranks, p = np.array([[3.0, 2, 1], [1, 3, 2], [2, 1, 3]]), [0.6, 0.25, 0.15]
    least = min_leakage(ranks, p, 2).value
    assert expected_utility_mechanism(ranks, p, least, 2).mechanism.certify(least)


def test_no_room_at_the_least_level():
    draw = np.random.default_rng(15)
    for _ in range(
        8
    ):  # at the least level there is no room: the bracket must close to the last digit
        mask = (draw.random((6, 6)) < 0.5) | np.eye(6, dtype=bool)
        prior = draw.dirichlet(np.ones(6))
        bracket = Bracket(mask, prior)
        bracket.narrow(Clock(), 0.0)
        tight = bracket.mechanism.epsilon
        assert _affordable(mask, prior, (), (), tight, 0.0, Clock()).certify(tight)


def test_floors_and_units():
    ranks, p = np.array([[3.0, 2, 1], [1, 3, 2], [2, 1, 3]]), [0.6, 0.25, 0.15]
    least = min_leakage(ranks, p, 2).value
    try:
        expected_utility_mechanism(ranks, p, least - 1e-6, 2)
        raise AssertionError("a floor was kept below the least level")
    except Infeasible:
        pass
    one = expected_utility_mechanism(ranks, p, 0.8, 2)
    for unit, zero in ((2.0**-30, 0.0), (2.0**20, 64.0)):
        other = expected_utility_mechanism(unit * ranks + zero, p, 0.8, unit * 2 + zero)
        assert abs((other.value - zero) / unit - one.value) < 1e-9 and other.bound >= other.value
        assert abs((other.bound - zero) / unit - one.bound) < 1e-9


def test_the_most_that_can_be_earned():
    ranks, p = np.array([[3.0, 2, 1], [1, 3, 2], [2, 1, 3]]), [0.6, 0.25, 0.15]
    assert (
        expected_utility_mechanism(ranks, p, 30.0, 2).value
        == 3
        == expected_utility_mechanism(ranks, p, 30.0, 2).bound
    )


def test_an_answer_that_is_exact_is_no_reason_to_warn():
    for table in (
        [[1.0000000000000002], [1.0], [1.0]],
        [[0.1], [0.3], [0.1]],
        [[1e300], [1.0], [7]],
    ):
        with warnings.catch_warnings(action="error"):
            design = expected_utility_mechanism(table, [0.25, 0.5, 0.25], 0.3, min(min(table)))
        exact = sum(Fraction(p) * Fraction(float(*row)) for p, row in zip((0.25, 0.5, 0.25), table))
        assert Fraction(design.value) <= exact <= Fraction(design.bound)
        assert np.nextafter(design.value, np.inf) >= design.bound


def test_the_value_is_at_most_the_exact_mean():
    draw = np.random.default_rng(16)
    for _ in range(40):
        table, p = draw.normal(size=(3, 3)), exact_prior(random_prior(3, draw))
        design = expected_utility_mechanism(table, p, 0.8, table.min())
        rows = design.mechanism.channel.tolist()
        exact = sum(
            q * Fraction(u) * Fraction(x)
            for q, utilities, row in zip(p, table.tolist(), rows)
            for u, x in zip(utilities, row)
        )
        assert exact - Fraction(2.0**-50) <= Fraction(design.value) <= exact
        assert exact <= Fraction(design.bound)
