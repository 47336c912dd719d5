"""The best mechanism for any table of losses keeps its level and its bound at the edges too."""

from fractions import Fraction

import numpy as np
import pytest

from pmlbook.hamming.shared_labels import min_loss
from pmlbook.numerics.enclosure import exp_around
from pmlbook.release.certificate import exp_below

THREE = [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]
SCALE = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))


def keeps(mechanism, level):
    """Whether no two entries of a column have a larger ratio, in whole numbers."""
    columns = mechanism.weights.T.tolist()
    return all(max(column) <= exp_below(level) * min(column) for column in columns)


@pytest.mark.filterwarnings("ignore::pmlbook.numerics.linear_programmes.LooseBound")
@pytest.mark.parametrize("level", [0, 1e-12, 1e-6, 0.1, 1, 5, 20, 40, 800])
@pytest.mark.parametrize("factor", [1e-9, 1, 1e12])
def test_level_and_bound_hold_at_the_edges(level, factor):
    found = min_loss(THREE, SCALE * factor, level)
    assert keeps(found.mechanism, level)
    assert found.bound <= found.value


@pytest.mark.parametrize("level", [0, 0.3, 2])
def test_two_symbols_agree_with_the_formula(level):
    """One fair bit: the least error is 1 / (1 + e^epsilon), enclosed by fractions."""
    found = min_loss([[0.5, 0.5]], 1 - np.eye(2), level)
    low, high = (1 / (1 + odds) for odds in exp_around(Fraction(level))[::-1])
    assert Fraction(found.bound) <= high and low <= Fraction(found.value)
    assert found.gap < 1e-12


def test_symbols_that_never_occur_cost_nothing():
    found = min_loss([[1.0, 0.0, 0.0]], SCALE, 0.5)
    assert found.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (SCALE[:2], "loss has 2 rows"),
        (SCALE * np.nan, "not finite"),
        ([[], [], []], "loss is empty"),
        (np.ones(3), "2 dimension"),
        ([["a"], ["b"], ["c"]], "real numbers"),
    ],
)
def test_bad_losses_are_named(loss, message):
    with pytest.raises(ValueError, match=message):
        min_loss(THREE, loss, 1.0)


@pytest.mark.parametrize("level", [23.0, 1000.0, 2.0**63, 1e308])
def test_a_level_beyond_all_odds_has_a_bound(level):
    """Its odds overflowed; and dual variables a hair too high, times e^50, left the bound far below zero."""
    found = min_loss(THREE, SCALE, level)
    assert 0 <= found.bound <= found.value <= 1e-8


@pytest.mark.parametrize("level", [22.0, 700.0])
def test_losses_beside_two_beyond_all_others(level):
    """A solver may report that the programme is unbounded: a second method is tried."""
    loss = np.array(
        [
            [-84586.18448810522, 1e11, -149323.26766518218, -221459.3136607839],
            [-26143.912967528886, -30244.038553485836, -50388.53221248488, -113276.72765782237],
            [22766.781350562294, 134397.00297523953, -207045.88729760167, -19660.579530283005],
            [-23816.404586013115, -15466.198534956984, 1e11, -41269.377597777595],
        ]
    )
    found = min_loss([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]], loss, level)
    assert loss[3, 3] * (1 + 1e-15) <= found.bound <= found.value <= loss[3, 3] * (1 - 1e-6)
    assert keeps(found.mechanism, level)
