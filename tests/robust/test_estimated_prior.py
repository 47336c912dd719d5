"""Regions of priors: what is refused, what is inside, and the two regions by other formulas."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from refusals import refusal
from scipy.stats import binomtest

from pmlbook.audit.strata import boxes
from pmlbook.robust.estimated_prior import (
    PriorRegion,
    ball_region,
    box_region,
    check_counts,
    prior_from_counts,
    worst_leakage,
)


def refused(make, *arguments):
    """Whether a call is refused."""
    try:
        make(*arguments)
    except ValueError:
        return True
    return False


def test_confidences_that_are_none():
    for confidence in ("0.9", None, 0, 1, 1.5, -0.5, float("nan")):
        assert refused(box_region, [5, 5], confidence) and refused(ball_region, [5, 5], confidence)


def test_counts_that_are_none():
    for wrong in ([-1, 2], [0.5, 2], [0, 0]):
        assert refused(check_counts, wrong)


def test_regions_that_are_none():
    half = [0.5, 0.5]
    for low, high, free in (
        ([0.4], [0.6, 0.6], 0),
        ([0.4, 0.4], [0.6, 0.6, 0.6], 0),
        ([0.4, 0.4], [0.6, 0.6], -1e-9),
        ([0.4, 0.4], [0.6, 0.6], 1 + 1e-9),
        ([-1e-9, 0.4], [0.6, 0.6], 0),
        ([0.4, 0.61], [0.6, 0.6], 0),
        ([0.5, 0.5 + 3e-9], [0.6, 0.6], 0),
        ([0.4, 0.4], [0.5, 0.5 - 3e-9], 0),
        ([0.25, 0.25 + 3e-9], [0.6, 0.6], 0.5),
    ):
        assert refused(PriorRegion, half, low, high, free)


def test_regions_at_the_edge():
    half = [0.5, 0.5]
    for low, high, free in (
        ([0, 0], half, 0),
        (half, [1, 1], 0),
        ([0, 0], [0, 0], 1),
        (half, half, 0),
    ):
        assert PriorRegion(half, low, high, free).contains(half)


def test_what_a_region_contains():
    half = [0.5, 0.5]
    alone = PriorRegion(half, half, half)
    assert alone.contains([0.5 - 1e-13, 0.5 + 1e-13]) and not alone.contains(
        [0.5 - 1e-9, 0.5 + 1e-9]
    )
    assert "L1 radius 1" in repr(PriorRegion(half, [0, 0], half, 0.5)) and "within 0" in repr(alone)


def test_regions_by_other_formulas():
    for cells, people, confidence in ((2, 100, 0.95), (3, 40, 0.5), (6, 1000, 0.999)):
        counts = np.full(cells, people)
        told = np.sqrt(2 / counts.sum() * np.log((2**cells - 2) / (1 - confidence)))
        assert np.isclose(2 * ball_region(counts, confidence).free, told, rtol=0, atol=1e-14)
        one = binomtest(people, counts.sum()).proportion_ci(
            confidence if cells == 2 else 1 - (1 - confidence) / cells
        )
        ends = box_region(counts, confidence)
        assert np.allclose([ends.low[0], ends.high[0]], [one.low, one.high], rtol=0, atol=1e-9)


def test_a_ball_is_at_most_everything():
    half = [0.5, 0.5]
    assert ball_region([1, 1], 0.999).free == 1
    never = worst_leakage([[1, 0, 0], [0.5, 0.5, 0]], PriorRegion(half, [0, 0], [1, 1]))
    assert never[0] == np.nextafter(np.log(2), 1) and never[1] == np.inf and np.isnan(never[2])


@pytest.mark.parametrize(
    "free", [None, [0.1], (), "a", "0.1", b"0.1", 10**400, 1j, True, -0.1, 1.5, float("nan")]
)
def test_a_free_mass_that_is_none_is_named(free):
    for wrong in (free, pd.NA):
        with pytest.raises(ValueError, match="free"):
            PriorRegion([0.5, 0.5], [0.4, 0.4], [0.6, 0.6], wrong)


@pytest.mark.parametrize("free", [0, 0.1, Fraction(1, 10), Decimal("0.1"), np.float32(0.1)])
def test_a_free_mass_is_a_number_from_zero_to_one(free):
    assert PriorRegion([0.5, 0.5], [0.4, 0.4], [0.6, 0.6], free).free == float(free)


def test_counts_of_arrow_are_counts():
    assert prior_from_counts(pa.array([5, 15])).tolist() == [0.25, 0.75]
    assert box_region(pa.array([5, 6])) == box_region([5, 6])


def test_a_confidence_is_any_real_number():
    plain = box_region([5, 6], 0.75)
    for confidence in (Fraction(3, 4), Decimal("0.75")):
        assert box_region([5, 6], confidence) == plain
        assert boxes({(): [5, 6]}, confidence) == boxes({(): [5, 6]}, 0.75)
    for confidence in ("0.75", Decimal("nan"), Decimal("sNaN"), 1, None):
        assert "must lie strictly between 0 and 1" in refusal(box_region, [5, 6], confidence)
        assert "must lie strictly between 0 and 1" in refusal(boxes, {(): [5, 6]}, confidence)
