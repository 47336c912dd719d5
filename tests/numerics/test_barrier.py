"""The barrier engine: steps, ends of a path, and bounds that hold wherever they were found."""

import math

import numpy as np
import pytest

from pmlbook.numerics.barrier import (
    CENTRED_DECREMENT,
    Bounds,
    Centre,
    central_path,
    centre,
    close_in,
    longest_step,
    newton_direction,
)
from pmlbook.numerics.progress import Clock


class Powers:
    """The sum of x^3 / 3, whose least on the simplex is in the middle."""

    def value(self, point, parameter):
        return float((point**3).sum()) / 3

    def slopes(self, point, parameter):
        return point**3, np.diag(2 * point**3)


class Cliff:
    """A function that is a number at its start only."""

    def value(self, point, parameter):
        return 0.0 if point[0] == 0.5 else math.inf

    def slopes(self, point, parameter):
        return np.array([1.0, -1.0]), np.eye(2)


def test_the_longest_step():
    assert longest_step(np.array([1.0, 0.0, 2.0]), np.array([3.0, 0.0, 0.1])) == 1
    assert longest_step(np.array([1.0, 2.0, 3.0]), np.array([-4.0, -1.0, 9.0])) == 0.99 / 4
    assert longest_step(np.array([1.0]), np.array([-0.5])) == 1


@pytest.mark.parametrize("unit", [1.0, 2.0**-400, 2.0**300])
def test_a_direction_is_least_and_knows_no_unit(unit):
    rng = np.random.default_rng(2)
    root, slope, rows = rng.normal(size=(5, 5)), rng.normal(size=5), rng.normal(size=(2, 5))
    bend = root @ root.T
    move, promise = newton_direction(unit * slope, unit * bend, rows)
    assert (move == newton_direction(slope, bend, rows)[0]).all()
    assert abs(rows @ move).max() < 1e-12 * abs(move).max()
    free = np.linalg.svd(rows)[2][2:].T  # moves that change nothing
    assert abs(free.T @ (bend @ move + slope)).max() < 1e-10
    assert promise / unit == pytest.approx(-slope @ move, rel=1e-10)


def test_a_direction_that_is_not_unique_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        newton_direction(np.ones(2), np.zeros((2, 2)), np.ones((1, 2)))


def test_a_path_ends_in_the_middle():
    start, rows = np.array([0.7, 0.2, 0.1]), np.ones((1, 3))
    for at in central_path(start, Powers(), rows, [1.0, 1e-3, 1e-6]):
        assert (
            at.point.sum() == pytest.approx(1, abs=1e-14) and at.decrement**2 <= CENTRED_DECREMENT
        )
    # the squared decrement bounds the distance from the centre in the barrier's norm
    assert abs(3 * at.point - 1).max() < 0.5


def test_a_clock_that_is_over_ends_a_path_after_one_parameter():
    given = np.array([0.5, 0.5]), Powers(), np.ones((1, 2)), [1.0, 0.1, 0.01]
    assert [at.parameter for at in central_path(*given, Clock(0))] == [1.0]
    assert [at.parameter for at in central_path(*given, Clock(600))] == [1.0, 0.1, 0.01]


def test_where_no_step_helps_nothing_is_claimed():
    found = centre(np.array([0.5, 0.5]), Cliff(), np.ones((1, 2)), 0.1)
    assert found.point.tolist() == [0.5, 0.5] and found.gap(2) == math.inf


def test_a_gap_grows_with_the_decrement():
    point, gaps = np.ones(1), [Centre(np.ones(1), 0.5, far).gap(4) for far in (0, 0.1, 0.5, 0.99)]
    assert gaps[0] == 2 and gaps == sorted(gaps)
    assert Centre(point, 0.5, 1.0).gap(4) == Centre(point, 0.5, math.nan).gap(4) == math.inf


def test_either_side_keeps_its_best_and_what_proves_it():
    told = {0: (0, 9), 1: (2, 8), 2: (1, 7), 3: (math.nan, math.nan), 4: (3, 6.5)}

    def measure(k):
        mark = np.array([k])
        return Bounds(*told[k], (mark,), (mark,))

    def advance(k):
        if k == 4:
            raise np.linalg.LinAlgError
        return k + 1

    def proofs(enough, steps):
        found = close_in(0, advance, measure, enough, steps)
        return found.low, int(found.of_low[0][0]), found.high, int(found.of_high[0][0])

    assert proofs(lambda best: False, 2) == (2, 1, 7, 2)
    assert proofs(lambda best: False, 99) == (3, 4, 6.5, 4)  # a step that fails ends it
    assert proofs(lambda best: best.gap <= 6, 99) == (2, 1, 8, 1)


def test_more_rows_than_unknowns_are_dependent():
    with pytest.raises(np.linalg.LinAlgError, match="3 rows of 2 entries"):
        newton_direction(np.ones(2), np.eye(2), np.ones((3, 2)))
