"""Column generation: weights of the centre, stopping, failures, and numbers that floats do not see."""

from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from pmlbook.numerics.linear_programmes import SolverFailed
from pmlbook.numerics.progress import Clock
from pmlbook.numerics.restricted_master import (
    Backtracking,
    Column,
    Generation,
    Priced,
    Stage,
    Tableau,
    _leaving,
    lagrangian_bound,
    minimise_precisely,
)

ONE, NONE, TINY = Decimal(1), Decimal(0), Decimal(10) ** -30
FOUND, MISSED = Priced([0]), Priced(None)


class Halves:
    """A master whose value halves with every column; it fails at the fifth."""

    def __init__(self):
        self.count = 0

    def add(self, columns):
        self.count += len(columns)

    def solve(self, clock):
        if self.count == 5:
            raise SolverFailed("five is too many")
        return 2.0**-self.count, np.full(2, float(self.count))


def started(closed=lambda value, bound: False, told=None, **known):
    tell = None if told is None else lambda *pair: told.append(pair)
    generation = Generation(Halves(), closed, Clock(None, False), tell, **known)
    generation.solve(generation.clock)
    return generation


def weights_of(rule, answers):
    weights, goes_on = [rule.weight], []
    for answer in answers:
        goes_on.append(rule.adapt(answer))
        weights.append(rule.weight)
    return weights, goes_on


def test_backtracking_ends_when_the_own_dual_has_nothing():
    weights, goes_on = weights_of(
        Backtracking(0.8, 0.5, 0.3), [MISSED, MISSED, FOUND, MISSED, MISSED, MISSED]
    )
    assert weights == [0.8, 0.4, 0, 0.8, 0.4, 0, 0.8]
    assert goes_on == [True] * 5 + [False]
    assert weights_of(Backtracking(), [FOUND, MISSED]) == ([0, 0, 0], [True, False])
    assert weights_of(Backtracking(0.6, 0, ends=False), [MISSED, MISSED, MISSED]) == (
        [0.6, 0, 0.6, 0],
        [True, True, True],
    )


def test_the_centre_has_the_best_bound_and_its_weight():
    generation, asked = started(bound=0.0, dual=np.array([8.0, 0.0])), []
    assert generation.centre.tolist() == [8, 0]

    def price(dual):
        asked.append(dual.tolist())
        return Priced(None, bounds.pop(0), dual)

    bounds = [-1.0, 0.25, 0.125]
    for weight in (0.5, 0.5, 0.5):
        generation.round(price, weight)
    assert asked == [[4, 0], [4, 0], [2, 0]]  # between [0, 0] and [8, 0], then and [4, 0]
    assert generation.bound == 0.25 and generation.centre.tolist() == [4, 0]
    generation.round(lambda dual: Priced(None, 0.75))
    assert generation.bound == 0.75 and generation.centre_bound == 0.25  # no dual, no centre


def test_a_closed_gap_adds_nothing_and_asks_nothing():
    told = []
    generation = started(lambda value, bound: value - bound <= 0.5, told)
    Stage("", lambda dual: Priced([1], 0.5)).turn(generation)
    assert generation.closed and generation.master.count == 0 and told == [(1.0, 0.5)]
    Stage("", lambda dual: 1 / 0).turn(generation)


def test_a_failure_leaves_the_last_value():
    generation = started()
    Stage("", lambda dual: Priced([1])).turn(generation)
    assert generation.why == "five is too many" and generation.value == 2.0**-4 and generation.over
    assert generation.dual.tolist() == [4, 4]


def test_patience_ends_a_turn():
    for options, rounds in (
        ({"enough": 0.6, "patience": 2, "measure": lambda generation: 1.0}, 2),
        ({"enough": 0.6, "patience": 1}, 5),  # until the failure: each halves the gap
        ({"enough": 0.4, "patience": 1}, 1),
        ({"enough": 0.4, "patience": 3}, 3),
    ):
        generation = started(bound=0.0)
        Stage("", lambda dual: Priced([1]), **options).turn(generation)
        assert generation.master.count == rounds


def test_a_clock_that_is_over_asks_for_no_column():
    generation = started()
    generation.clock = Clock(0, False)
    Stage("", lambda dual: 1 / 0).turn(generation)


def test_bounds_from_any_dual():
    assert lagrangian_bound(3, 2, -1) == 1 and lagrangian_bound(3, 2, 1) == 3


def test_a_tableau_keeps_its_basis_in_fractions():
    """Two columns for two rows: weights, value and dual variables by hand."""
    master = Tableau([Fraction(4), Fraction(3)], Fraction(10), Fraction(0))
    assert master.solve(Clock())[0] == 70 and master.used == []
    first, second = (
        Column(Fraction(1), np.array([Fraction(a), Fraction(b)])) for a, b in ((2, 1), (0, 1))
    )
    master.add(first)
    master.add(second)
    value, dual = master.solve(Clock())
    assert value == 3 and dual.tolist() == [0, 1]  # 2 of the first, 1 of the second
    assert [(weight, column is first) for weight, column in master.used] == [(2, True), (1, False)]


def test_the_row_that_leaves_has_the_least_ratio():
    rng = np.random.default_rng(11)
    for _ in range(200):  # ties are frequent among such numbers
        table = np.array(
            [[Decimal(int(x)) for x in row] for row in rng.integers(0, 3, size=(4, 5))]
        )
        move = np.array([Decimal(int(x)) for x in rng.choice([-1, 0, 1, 2], size=4)])
        ratios = {
            i: [table[i, k] / move[i] for k in (-1, 0, 1, 2, 3)] for i in range(4) if move[i] > 0
        }
        row = _leaving(table, move, TINY)
        assert row is None if not ratios else ratios[row] == min(ratios.values())


def test_a_cost_that_floats_do_not_see_is_found():
    near = Column(-ONE - Decimal(10) ** -25, np.array([ONE, NONE]))  # cheaper than all floats see
    others = [Column(-ONE, np.array([ONE, NONE])), Column(-ONE, np.array([NONE, ONE])), near]
    for columns in permutations(others):
        best = minimise_precisely(
            [ONE, ONE],
            NONE,
            lambda dual, columns=columns: next(
                (c for c in columns if c.cost - dual @ c.entries < -TINY), None
            ),
            60,
            Clock(),
        )
        assert best.finished and {id(c) for _, c in best.weights} >= {id(near)}
        assert sum(x * c.cost for x, c in best.weights) == sum(best.dual) == near.cost - ONE


def test_a_search_in_decimals_is_stopped():
    near = Column(-ONE, np.array([ONE, NONE]))
    stopped = minimise_precisely([ONE, ONE], NONE, lambda dual: near, 60, Clock(0))
    assert not stopped.finished and stopped.weights == [] and stopped.dual == [NONE, NONE]
    silent = minimise_precisely([ONE, ONE], ONE, lambda dual: None, 60, Clock())
    assert silent.finished and silent.weights == [] and silent.dual == [ONE, ONE]
    with pytest.raises(SolverFailed, match="unbounded"):
        minimise_precisely([ONE], NONE, lambda dual: Column(-ONE, np.array([-ONE])), 60, Clock())
